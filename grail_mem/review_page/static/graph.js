// The picture: zoom, move, choose. The list beside it says the same without this file.
"use strict";

const svg = document.getElementById("graph");
if (svg) {
  const whole = svg.viewBox.baseVal;
  const home = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  const view = { ...home };
  const nodes = new Map([...svg.querySelectorAll("a[data-node]")].map((node) => [node.dataset.node, node]));
  const lines = [...svg.querySelectorAll("line[data-a]")];
  const picture = svg.closest("figure");
  picture.querySelector(".graph-tools").hidden = false;

  const show = () => {
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    svg.classList.toggle("near", view.width < home.width * 0.6);
    const unit = view.width / (svg.clientWidth || home.width);
    svg.classList.toggle("tight", unit > 1.6);
    const size = Math.min(Math.max(11 * unit, 6), 34);
    for (const text of svg.querySelectorAll("text")) text.setAttribute("font-size", size);
  };
  const zoom = (by, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    const width = Math.min(Math.max(view.width * by, home.width / 12), home.width * 1.5);
    const real = width / view.width;
    view.x = x - (x - view.x) * real;
    view.y = y - (y - view.y) * real;
    view.width = width;
    view.height *= real;
    show();
  };
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  for (const node of nodes.values()) node.classList.toggle("rest", Number(node.dataset.node) >= 9);
  addEventListener("resize", show);
  show();

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const point = at(event);
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point.x, point.y);
  }, { passive: false });
  picture.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (!button) return;
    if (button.dataset.zoom === "all") { Object.assign(view, home); show(); choose(null); } else zoom(button.dataset.zoom === "in" ? 0.75 : 1 / 0.75);
  });

  const fingers = new Map();
  let moved = false;
  svg.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    moved = false;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    if (fingers.size === 1) {
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      svg.classList.add("moving");
      const unit = view.width / svg.clientWidth;
      view.x -= dx * unit;
      view.y -= dy * unit;
    } else if (fingers.size === 2) {
      moved = true;
      const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId);
      const reach = (one) => Math.max(Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY), 1);
      const point = at(event);
      zoom(reach(before) / reach(event), point.x, point.y);
    }
    fingers.set(event.pointerId, event);
    show();
  });
  const lift = (event) => { fingers.delete(event.pointerId); svg.classList.remove("moving"); };
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(name, lift);
  svg.addEventListener("dragstart", (event) => event.preventDefault());

  const choose = (number) => {
    svg.classList.toggle("picking", number !== null);
    for (const node of nodes.values()) node.classList.remove("chosen", "tied");
    for (const line of lines) line.classList.remove("tied");
    if (number === null) return;
    nodes.get(number).classList.add("chosen");
    for (const line of lines) {
      const { a, b } = line.dataset;
      if (a !== number && b !== number) continue;
      line.classList.add("tied");
      nodes.get(a === number ? b : a).classList.add("tied");
    }
    for (const one of document.querySelectorAll("details[data-of]")) if (one.dataset.of !== number) one.open = false;
    const panel = document.getElementById(`n-${number}`);
    panel.open = true;
    const list = panel.parentElement;
    list.scrollTop = panel.offsetTop - list.offsetTop - 8;
  };
  svg.addEventListener("click", (event) => {
    const node = event.target.closest("a[data-node]");
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (moved) return;
    choose(node ? node.dataset.node : null);
  });
  document.querySelector(".graph-list").addEventListener("click", (event) => {
    const go = event.target.closest("[data-go]");
    const summary = event.target.closest("summary");
    if (go) { event.preventDefault(); choose(go.dataset.go); document.querySelector(`#n-${go.dataset.go} summary`).focus(); }
    else if (summary && !summary.parentElement.open) { event.preventDefault(); choose(summary.parentElement.dataset.of); }
  });
  const opened = document.querySelector("details[data-of][open]");
  if (opened) choose(opened.dataset.of);
}
