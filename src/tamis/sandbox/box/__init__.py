"""What runs inside the box, in a lean interpreter that has the standard library and nothing of tamis.

These files import each other and the standard library only. They know no expected value and no test.
"""
