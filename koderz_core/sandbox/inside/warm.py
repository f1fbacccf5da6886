"""Modules that many programs import, loaded once before the zygote is forked, so that programs start faster."""

from __future__ import annotations

import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import random
import re
import string
import typing

MODULES = [
    module.__name__
    for module in (bisect, collections, copy, functools, heapq, itertools, math, random, re, string, typing)
]
