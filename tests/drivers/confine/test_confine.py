"""The sandbox as a whole: every promise of SECURITY.md is tried, and tried to be broken, as root and as a normal user."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ci_eval.adapters.confinement import NOTHING_OPEN, PACKAGE, installs_of, interpreter
from ci_eval.drivers.confine.proof import CANARIES
from tests.drivers.confine.escapes import TRIES
from tests.needs import lack

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
ROOT = Path(__file__).parents[3]
