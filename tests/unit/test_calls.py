"""The recorder of one task's skill calls."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from skillshift.calls import SkillCall, SkillRecorder, describe
from skillshift.frame.errors import UsageError


def test_no_call_is_zero():
    recorder = SkillRecorder()
    assert (recorder.calls, recorder.failures, recorder.log) == (0, 0, ())


def test_calls_and_failures_are_counted_in_order():
    recorder = SkillRecorder()
    with recorder.call("log in"):
        pass
    with recorder.call("search") as call:
        call.fail("no result")
        call.fail("and no hope")
    with recorder.call("log in"):
        pass
    assert (recorder.calls, recorder.failures) == (3, 1)
    assert recorder.log == (
        SkillCall("log in", None),
        SkillCall("search", "no result"),
        SkillCall("log in", None),
    )


@pytest.mark.parametrize(
    "error", [ValueError("no button"), KeyboardInterrupt(), SystemExit(3), StopIteration(1), GeneratorExit()]
)
def test_an_exception_that_leaves_the_block_is_a_failed_call_and_raised_again(error):
    recorder = SkillRecorder()
    with pytest.raises(type(error)) as raised, recorder.call("log in"):
        raise error
    assert raised.value is error
    assert (recorder.calls, recorder.failures) == (1, 1)
    assert recorder.log[0].failure == describe(error)


def test_an_exception_after_fail_is_one_failure_with_its_first_reason():
    recorder = SkillRecorder()

    def run():
        with recorder.call("log in") as call:
            call.fail("first")
            raise ValueError("later")

    with pytest.raises(ValueError, match="later"):
        run()
    assert recorder.log == (SkillCall("log in", "first"),)
    assert recorder.failures == 1


def test_an_exception_caught_within_the_block_is_no_failure():
    recorder = SkillRecorder()
    with recorder.call("log in"), contextlib.suppress(ValueError):
        raise ValueError
    assert (recorder.calls, recorder.failures) == (1, 0)


def test_a_call_that_times_out_is_a_failed_call():
    recorder = SkillRecorder()

    async def agent():
        async with asyncio.timeout(0.01):
            with recorder.call("wait"):
                await asyncio.sleep(30)

    with pytest.raises(TimeoutError):
        asyncio.run(agent())
    assert recorder.log == (SkillCall("wait", "CancelledError"),)


def test_a_nested_call_is_an_error_that_leaves_the_outer_call_going():
    recorder = SkillRecorder()
    with recorder.call("outer"):
        with (
            pytest.raises(
                UsageError, match="'inner' cannot be called while the call of 'outer' is under way"
            ),
            recorder.call("inner"),
        ):
            pytest.fail("the inner block was entered")
        assert recorder.open_call == "outer"
        assert recorder.calls == 0
    assert recorder.log == (SkillCall("outer", None),)
    with recorder.call("next"):
        pass
    assert (recorder.calls, recorder.failures) == (2, 0)


def test_a_nested_call_left_to_itself_fails_the_outer_call_and_leaves_the_recorder_usable():
    recorder = SkillRecorder()
    with pytest.raises(UsageError, match="do not nest"), recorder.call("outer"), recorder.call("inner"):
        pass
    assert recorder.open_call is None
    with recorder.call("next"):
        pass
    assert [call.name for call in recorder.log] == ["outer", "next"]
    assert recorder.failures == 1


def test_a_recorder_decorates_a_skill():
    recorder = SkillRecorder()

    @recorder.call("log in")
    def log_in(works):
        if not works:
            raise LookupError
        return "in"

    assert log_in(works=True) == "in"
    with pytest.raises(LookupError):
        log_in(works=False)
    assert (recorder.calls, recorder.failures) == (2, 1)


def test_a_call_counts_when_its_block_is_entered():
    recorder = SkillRecorder()
    recorder.call("log in")
    assert recorder.calls == 0


def test_a_call_in_another_thread_meanwhile_is_refused():
    recorder = SkillRecorder()
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with recorder.call("held"):
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    with pytest.raises(UsageError, match="'held' is under way"), recorder.call("other"):
        pass
    leave.set()
    thread.join(10)
    assert recorder.log == (SkillCall("held", None),)


def test_failing_a_call_that_has_ended_is_an_error():
    recorder = SkillRecorder()
    with recorder.call("log in") as call:
        pass
    with pytest.raises(UsageError, match="after the call has ended"):
        call.fail("too late")
    assert recorder.failures == 0


@pytest.mark.parametrize("reason", ["", None, ValueError("x")])
def test_a_reason_is_text(reason):
    recorder = SkillRecorder()
    with recorder.call("log in") as call, pytest.raises(UsageError, match="reason: found"):
        call.fail(reason)
    assert recorder.failures == 0


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_name_is_text(name):
    recorder = SkillRecorder()
    with pytest.raises(UsageError, match="name: found"), recorder.call(name):
        pass
    assert recorder.calls == 0
    assert recorder.open_call is None


def test_a_closed_recorder_takes_no_call():
    recorder = SkillRecorder()
    recorder.close()
    with pytest.raises(UsageError, match="one SkillRecorder a task"), recorder.call("log in"):
        pass
    with pytest.raises(UsageError, match="one SkillRecorder a task"):
        recorder.close()


def test_a_recorder_is_not_closed_during_a_call():
    recorder = SkillRecorder()
    with recorder.call("log in"), pytest.raises(UsageError, match="the task cannot end while"):
        recorder.close()
    assert not recorder.closed


def test_an_error_s_text_has_its_type_and_is_valid_unicode():
    assert describe(ValueError("no button")) == "ValueError: no button"
    assert describe(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert describe(OSError("\udcff.png")) == "OSError: \\udcff.png"
