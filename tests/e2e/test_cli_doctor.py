"""`addon doctor` and `addon serve`, for somebody who has set nothing up, and for somebody who has."""

from dataclasses import fields
from pathlib import Path

import pytest
from simulated import running_simulator
from terminal import Terminal

from addon.settings import Settings
