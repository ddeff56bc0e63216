"""Two users of one store: each has their own memory, and a grant opens what one wants to share.

Run it: `python examples/multi_user_grants.py`. It uses a temporary folder and leaves nothing behind.
"""

from __future__ import annotations

import tempfile

from grail_mem import Memory
from grail_mem.errors import AccessError


def known(memory: Memory, user: str, question: str) -> str:
    """What the assistant of a user finds."""
    with memory.session(user_id=user, agent_id="assistant", project_id="launch") as session:
        found = session.search(question)
        return found.observations[0].content if found.observations else f"nothing ({found.abstention.reason})"  # type: ignore[union-attr]


def main() -> None:
    """Who reads what before a grant, with it, and after it is taken back."""
    with tempfile.TemporaryDirectory() as root, Memory(root) as memory:
        with memory.session(user_id="ana", agent_id="assistant") as ana:
            ana.add_observation(content="Ana's flight leaves on Friday at nine.")
        question = "When does the flight leave?"
        print(f"ana reads:  {known(memory, 'ana', question)}")
        print(f"ben reads:  {known(memory, 'ben', question)}")

        grant = memory.grant("user:ben", "agent:assistant/ana", "read", until="7d", reason="they travel together")
        print(f"granted:    {known(memory, 'ben', question)}")
        with memory.session(user_id="ben", agent_id="assistant") as ben:
            try:
                ben.add_observation(content="It leaves at ten.", scope="agent:assistant/ana")
            except AccessError as error:
                print(f"ben writes: refused ({error.code})")
        memory.revoke(grant.id)
        print(f"revoked:    {known(memory, 'ben', question)}")

        for user in ("ana", "ben"):
            memory.grant(f"user:{user}", "project:launch", ["read", "write"])
        with memory.session(user_id="ben", agent_id="assistant", project_id="launch") as ben:
            ben.add_observation(content="The launch is on the third of May.", scope="project:launch")
        print(f"shared:     {known(memory, 'ana', 'When is the launch?')}")


if __name__ == "__main__":
    main()
