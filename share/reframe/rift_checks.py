"""ReFrame checks that run rift: its own check of the result decides whether one passes, and its
times are performance variables. Where each test runs, what it is compared with, and the history of
it are ReFrame's (https://reframe-hpc.readthedocs.io): schedulers, references, perflogs.

    reframe -c share/reframe/rift_checks.py -S rift=/opt/rift/rift --performance-report -r

Variables of each check are set with -S NAME=VALUE, or -S CHECK.NAME=VALUE.
"""
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn


class RiftCheck(rfm.RunOnlyRegressionTest):
    """What both have in common. reference_us: what the time should be, in us; more than `margin`
    beyond it fails; 0: there is no reference, and the time is only logged."""
    valid_systems = ['*']
    valid_prog_environs = ['*']
    rift = variable(str, value='rift')
    margin = variable(float, value=0.05)
    reference_us = variable(float, value=0.0)

    def found(self):
        """rift's JSON, which is all that it prints on stdout."""
        with open(os.path.join(self.stagedir, str(self.stdout))) as out:
            return json.load(out)

    def set_reference(self, name):
        if self.reference_us > 0:
            self.reference = {'*': {name: (self.reference_us, None, self.margin, 'us')}}


@rfm.simple_test
class RiftRun(RiftCheck):
    """One configuration of a workload, checked and timed: the median time of a step."""
    workload = variable(str, value='myocyte')
    arguments = variable(str, value='')

    @run_before('run')
    def set_command(self):
        self.executable = self.rift
        self.executable_opts = ['run', self.workload, *self.arguments.split(), '--json']

    @run_before('performance')
    def set_references(self):
        self.set_reference('step_time')

    @sanity_function
    def is_right(self):
        return sn.assert_true(self.found()['check']['passed'], 'the result failed the check')

    @performance_function('us')
    def step_time(self):
        return self.found()['step_ns']['median'] / 1e3

    @performance_function('us')
    def submit_time(self):
        return self.found()['submit_ns']['median'] / 1e3


@rfm.simple_test
class RiftLaunch(RiftCheck):
    """The launch sweep: what a launch costs the program, and a launch that is waited for, with
    their intervals in the record next to it."""

    @run_before('run')
    def set_command(self):
        self.prerun_cmds = [f'{self.rift} sweep launch --express --quiet --output launch.jsonl '
                            '>sweep.out']
        self.executable = self.rift
        self.executable_opts = ['fit', 'launch.jsonl', '--json']
        self.keep_files = ['launch.jsonl']

    @run_before('performance')
    def set_references(self):
        self.set_reference('launch_and_wait')

    def fitted_us(self, name):
        return self.found()['sides'][0]['parameters'][name]['value'] / 1e3

    @sanity_function
    def is_fitted(self):
        return sn.assert_found('"parameters"', self.stdout)

    @performance_function('us')
    def launch(self):
        return self.fitted_us('c_ns')

    @performance_function('us')
    def launch_and_wait(self):
        return self.fitted_us('z_ns')
