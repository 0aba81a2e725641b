"""What the driver writes into the history of a section (README.md), and its clock."""
import json
import os
import time

CLOCK_BOOTTIME = 7


def now_us():
    """True time, as the clients write it."""
    return time.clock_gettime_ns(CLOCK_BOOTTIME) // 1000


def wall_us():
    return time.time_ns() // 1000


class History:
    def __init__(self, folder):
        self.folder = folder
        self.file = open(os.path.join(folder, 'driver.jsonl'), 'w', encoding='utf-8')
        self.faults = 0

    def write(self, event, **fields):
        line = {'t': now_us(), 'p': 'driver', 'e': event, **fields}
        self.file.write(json.dumps(line) + '\n')
        self.file.flush()

    def fault(self, kind, who, outside):
        self.faults += 1
        self.write('fault', id=self.faults, kind=kind, who=who, outside=outside)
        return self.faults

    def heal(self, number):
        self.write('heal', id=number)

    def end(self, **section):
        self.file.close()
        with open(os.path.join(self.folder, 'section.json'), 'w', encoding='utf-8') as file:
            json.dump(section, file, indent=1)
