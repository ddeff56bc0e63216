"""Turns of conversations with what a careful reader would keep of each: `rule | text`, or `- | text` for nothing."""

from __future__ import annotations

from typing import Final

TURNS: Final = """
preference | I prefer concise answers in my reports.
preference | I really like dark roast coffee.
preference | I hate long meetings on Mondays.
preference | I always use tabs in Go code.
preference | I never eat meat.
preference | Honestly, I love hiking in the Alps.
preference | I can't stand loud music in restaurants.
preference | I enjoy reading science fiction.
preference | I avoid flying whenever there is a train.
preference | I generally prefer window seats.
preference | Also, I dislike phone calls before noon.
preference | I always take the night train to Vienna.
preference | I never share my calendar with vendors.
preference | I usually prefer email to chat.
preference | For the record, I prefer Postgres to MySQL.
preference | I love spicy food.
preference | I like my tea without sugar.
preference | I strongly prefer metric units.
preference | I hate being interrupted while I write.
preference | I never work on Sundays.
decision | We decided to move the order service to Postgres.
decision | We chose Kafka for the event bus.
decision | We agreed on a four-day week for the pilot.
decision | We're going with the blue logo.
decision | We will go with option B for the launch.
decision | I decided to sell the car.
decision | We settled on Lisbon for the offsite.
decision | We've decided against the merger.
decision | I picked the smaller apartment near the park.
decision | We have finally decided to drop Python 3.9.
decision | So we chose Hetzner over AWS.
decision | We'll go with weekly releases.
commitment | I'll send the report by Friday.
commitment | I will call Dana before Monday.
commitment | We'll ship the beta by the end of the month.
commitment | I'm going to renew the passport by 2026-09-01.
commitment | We are going to migrate the database on June 12.
commitment | I'll review the contract tomorrow.
commitment | I will pay the invoice next week.
commitment | We will publish the figures by 3 July.
commitment | I'll water the plants until Sunday.
commitment | I will finish chapter four by next month.
fact | I moved to Berlin in June 2026.
fact | I joined Acme in March.
fact | The course starts on 2026-07-01.
fact | Our lease ends in October.
fact | The conference begins on Tuesday.
fact | Project Falcon launches in September.
fact | I started the new job on Monday.
fact | The tax return is due by 31 July.
fact | I left the band in 2024-05-01.
fact | The new office opens on 1 August.
fact | The review is scheduled for Thursday.
fact | I switched to decaf in January.
correction | No, the meeting is on Wednesday.
correction | Actually, my sister lives in Graz.
correction | Correction: the budget is 40,000 euros.
correction | The deadline is not Friday but Monday.
correction | No, our landlord is Mr Novak.
correction | Actually, the server has 64 GB of memory.
correction | My birthday is not in May but in June.
correction | No, Dana works for Initech.
- | Do I prefer tea or coffee?
- | What do you think I like most?
- | Should we go with Kafka?
- | Can you send the report by Friday?
- | If I were rich, I would buy a boat.
- | If we decided to move, we would need a truck.
- | I would like a table for two.
- | I'd prefer not to say.
- | Maybe I like jazz.
- | I might move to Oslo in May.
- | Perhaps we chose the wrong vendor.
- | Tom said I never listen.
- | Dana told me she hates cilantro.
- | According to Lena, we decided to wait.
- | "I prefer cats" is what my boss wrote.
- | She says I always forget birthdays.
- | I like it.
- | I love that!
- | I hate this.
- | I like the idea very much.
- | I like to think about it.
- | I love you guys.
- | Just kidding, I hate pizza haha.
- | I always wear a cape to work, just joking.
- | I never sleep lol.
- | Imagine we decided to live on Mars.
- | Suppose I moved to Rome in May.
- | In theory, I prefer vim.
- | I think we chose Redis.
- | I'm not sure we agreed on that.
- | I guess I like blue.
- | Thanks, that helps a lot.
- | Please write a function that sorts a list.
- | How do I reset the router?
- | Hello there, how are you today?
- | The weather is nice.
- | Write a story in which I moved to Paris in May.
- | In my novel, the hero always drinks tea.
- | I dreamt that we chose a castle.
- | I wish we decided on something.
- | We could go with MySQL.
- | I used to love skiing.
- | I didn't say we chose that.
- | We haven't decided yet.
- | I'll think about it.
- | I will see.
- | We'll see what happens.
- | I'll be right back.
- | Let me know when you are done.
- | Translate: ich mag Tee.
- | My code raises a KeyError on line 4.
- | For example, I prefer tabs over spaces.
- | Unless I hear back, I'll send it by Friday.
- | Could we say the course starts on Monday?
- | You should always use a lock here.
- | They decided to close the shop.
- | He prefers tea to coffee.
- | People never read the manual.
- | Nobody likes long meetings.
- | I love how you explained it.
- | I like what you did there.
- | I never knew that.
- | I never thought about it.
- | I always forget.
- | I prefer that.
- | Sounds good to me.
- | ok
- | We chose it.
- | No, thanks.
- | No, that is wrong.
- | Actually, never mind.
"""


def turns() -> list[tuple[str, str]]:
    """Each turn with the rule that should find it, or `-`."""
    split = (line.split(" | ", 1) for line in TURNS.strip().splitlines())
    return [(rule.strip(), text) for rule, text in split]
