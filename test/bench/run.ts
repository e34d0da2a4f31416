import { parseArgs } from 'node:util';
import { startHello, startVerify } from './child.ts';
import { benchCodeFlow } from './code-flow.ts';
import { benchDaemonStart } from './daemon-start.ts';
import { table } from './figures.ts';
import { benchMail } from './mail.ts';
import { benchMe } from './me.ts';
import { benchMemory } from './memory.ts';
import { benchPages } from './pages.ts';
import { buildRelease } from './release.ts';
import { benchSignIn } from './sign-in.ts';
import { setStage } from './stage.ts';
import { benchStartUp } from './start-up.ts';
import { benchStorm } from './storm.ts';

// `npm run bench [-- --rounds N --only start-up|sign-in|mail|code-flow|storm|me|pages]` measures
// ratios against a limit or a peer. It runs both in turn, so the machine's speed and its other load
// cancel out. Each figure is the median of the rounds.
//
// `npm run bench -- --only memory [--on PostgreSQL --seconds N]` measures memory. It takes twelve
// minutes, so it is not part of the other run.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    on: { type: 'string', default: 'SQLite' },
    seconds: { type: 'string', default: '600' },
  },
});
const rounds = Number(values.rounds);
const wanted = (name: string) => values.only === undefined || values.only === name;
const print = (text: string) => process.stdout.write(text);

if (wanted('start-up')) {
  const release = await buildRelease();
  try {
    print(
      table('Start', [
        ...benchStartUp(release, rounds),
        ...(await benchDaemonStart(release, rounds)),
      ]),
    );
  } finally {
    await release.remove();
  }
}
if (values.only === 'memory')
  await benchMemory(
    values.on === 'PostgreSQL' ? 'PostgreSQL' : 'SQLite',
    Number(values.seconds),
    print,
  );
if (values.only === 'start-up' || values.only === 'memory') process.exit(0);

const hello = await startHello();
try {
  for (const name of ['SQLite', 'PostgreSQL'] as const) {
    if (wanted('mail'))
      print(
        table(`Whether response times reveal an account, ${name}`, await benchMail(name, rounds)),
      );
    if (wanted('code-flow'))
      print(table(`Code flows of applications, ${name}`, await benchCodeFlow(name, rounds)));
    if (values.only === 'mail' || values.only === 'code-flow') continue;
    const stage = await setStage(name);
    try {
      if (wanted('sign-in')) {
        const express = await startVerify();
        print(table(`Sign-in, ${name}`, await benchSignIn(stage, express, rounds)));
        await express.stop();
      }
      if (wanted('me'))
        print(table(`The most frequent request, ${name}`, await benchMe(stage, hello, rounds)));
      if (wanted('pages')) print(table(`Pages, ${name}`, await benchPages(stage, rounds)));
      if (wanted('storm')) {
        print(table(`16 wrong passwords in flight, ${name}`, await benchStorm(stage, rounds)));
      }
    } finally {
      await stage.stop();
    }
  }
} finally {
  await hello.stop();
}
