"""The five tools of an agent: one definition, its schemas for every format, and the calls."""

from grail_mem.tools.definitions import TOOLS
from grail_mem.tools.result import ToolResult
from grail_mem.tools.tool import Tool
from grail_mem.tools.toolbox import Toolbox

__all__ = ["TOOLS", "Tool", "ToolResult", "Toolbox"]
