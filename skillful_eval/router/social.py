"""The vocabulary of social turns, in English and Vietnamese.

A phrase is written as people write it, without apostrophes; case and accents do not matter where it is used.
"""

from __future__ import annotations


def _lines(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for line in text.splitlines() for phrase in line.split(",") if phrase.strip())


GREETINGS = _lines("""
    hi, hello, hey, hiya, howdy, yo, greetings, morning, good morning
    good afternoon, good evening, good day
    good night, welcome back, nice to meet you, how are you
    how are you doing, how are you today, how are things
    hows it going, whats up, bye, bye bye, goodbye, see you, see you later
    see you soon, see you tomorrow, see ya
    have a good day, have a great day, have a nice day, have a good one, have a great one
    chào, xin chào, chào buổi sáng, chào buổi trưa, chào buổi chiều, chào buổi tối
    alo, tạm biệt, hẹn gặp lại
""")

THANKS = _lines("""
    thanks, thank you, thank u, many thanks, thx, thnx, tks, ty, tysm
    cheers, much appreciated, much obliged
    appreciated, appreciate it, i appreciate it
    i appreciate that, i really appreciate it, youre welcome
    no problem, no worries, never mind, nevermind, sorry, sorry about that
    my bad, no thanks, no thank you
    cảm ơn, cám ơn, xin cảm ơn, cảm ơn rất nhiều, đa tạ, không có gì, không sao, không sao đâu, xin lỗi
""")

_PRAISE = _lines("""
    ok, okay, good, great, nice, fine, perfect, right, correct, awesome, excellent
    amazing, fantastic, brilliant
    wonderful, lovely, superb, cool
""")

_VERBS = (
    "looks",
    "look",
    "sounds",
    "seems",
    "works",
    "worked",
    "is",
    "its",
    "thats",
    "all",
    "very",
    "really",
)

_DEEDS = ("job", "work", "stuff", "one", "idea", "call", "catch")

APPROVALS = (
    *_PRAISE,
    *(f"{verb} {praise}" for verb in _VERBS for praise in _PRAISE),
    *(f"{praise} {deed}" for praise in _PRAISE for deed in _DEEDS),
    *_lines("""
        yes, yep, yeah, yup, yay, ya, no, nope, k, okie, sure, sure thing, alright
        all right, agreed, i agree
        exactly, absolutely, definitely, of course, indeed, approved, accepted, understood
        got it, i see, gotcha
        makes sense, that makes sense, fair enough, lgtm, sgtm, roger, roger that, noted, done
        neat, sweet, wow
        perfectly, beautiful, impressive, love it, i love it, i like it
        well done, way to go, good to go
        so far so good, works, that works, this works, it works, that worked, this worked, it worked
        works for me, that helps, this helps, that helped, that did it
        that will do, thats it, thats all
        works like a charm, works well, works perfectly
        được, được rồi, được đấy, được đó, ổn, ổn rồi, tốt, tốt lắm, tốt rồi, rất tốt
        tuyệt, tuyệt vời, tuyệt quá
        hay quá, hay lắm, giỏi, giỏi quá, giỏi lắm, đẹp quá, đẹp lắm, hoàn hảo
        xuất sắc, chuẩn, chuẩn rồi
        chính xác, đúng rồi, đúng vậy, đúng thế, xong, xong rồi, đồng ý, nhất trí, hiểu rồi, vâng, dạ
        ừ, ừm, oke
        trông ổn, trông tốt, trông ổn đấy, trông được đấy, nhìn ổn, nhìn ổn đấy
    """),
)

GO_ONS = _lines("""
    continue, go on, go ahead, go right ahead, carry on, keep going, keep it up
    keep at it, proceed, next
    next one, next step, move on, resume, do it, go for it, lets go
    lets do it, lets continue, lets proceed
    lets move on, on to the next, on to the next one, on to the next step
    tiếp, tiếp tục, tiếp đi, tiếp tục đi, tiếp nào, tiếp tục nào, làm tiếp
    làm tiếp đi, làm đi, cứ làm đi
    cứ làm tiếp đi, cứ tiếp tục, cứ tiếp tục đi, đi tiếp, tiến hành, tiến hành đi
""")

BESIDE = _lines("""
    please, pls, plz, and, so, then, now, oh, ah, well, haha, hehe, lol, there, everyone
    everybody, all, team
    folks, guys, mate, buddy, friend, my friend, man, again, to me, for me, for now
    so much, very much, a lot
    a ton, a bunch, a million, really, as always, you too, i think, too, that, this
    it, everything, with it
    with that
    bạn, bạn nhé, bạn nhiều, anh, chị, em, nhé, nha, nhá, ạ, nhiều, rất nhiều, lắm, đi
    rồi, thôi, mọi người
    các bạn, vậy, thế
""")
"""What may stand around a social turn and is none by itself."""

TURNS = (*GREETINGS, *THANKS, *APPROVALS, *GO_ONS)
"""Every phrase that is a social turn."""
