"""The changes that a proposal may ask for, and what each does to an observation.

A proposal is data that anybody may have written, so every part is checked before any of it is done. A change names
observations by id and folders by category, never a path:

* `{"do": "set", "id": ID, "fields": {NAME: VALUE}}`: fields of `Memory.update`; None removes one.
* `{"do": "move", "id": ID, "category": CATEGORY}`
* `{"do": "hide", "id": ID}`
* `{"do": "add", "draft": {NAME: VALUE}}`: arguments of `Memory.add_observation`.
* `{"do": "rename_entity", "ids": [ID, ...], "names": [NAME, ...], "to": NAME, "type": TYPE}`: in those observations, what
  is called by one of the names is called `to`; the name that stood there stays as one of its aliases. `type` may be left out.

Knows nothing of files and of the order of things.
"""

from __future__ import annotations
