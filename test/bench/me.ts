import type { Peer } from './child.ts';
import { type Figure, figure } from './figures.ts';
import { load, type Shot } from './load.ts';
import type { Stage } from './stage.ts';

const measuredMs = 2000;
const connections = 8;

/** Measures the most frequent requests, against a server that does nothing (goals 3 and 9). */
export async function benchMe(stage: Stage, hello: Peer, rounds: number): Promise<Figure[]> {
  const rates = { hello: [], cookie: [], token: [], verify: [] } as Record<
    'hello' | 'cookie' | 'token' | 'verify',
    number[]
  >;
  const delays: number[] = [];
  // The PostgreSQL server uses the same processors as the daemon and the client.
  const least = stage.name === 'SQLite' ? 45 : 25;
  const nothing: Shot = { path: '/', expect: 200 };
  for (let round = 0; round < rounds; round += 1) {
    rates.hello.push((await load(hello.url, nothing, connections, measuredMs)).rate);
    for (const [by, shot] of [
      ['cookie', stage.shots.meByCookie],
      ['token', stage.shots.meByToken],
      ['verify', stage.shots.verify],
    ] as const) {
      const { result, p99 } = await stage.loopDelay(() =>
        load(stage.url, shot, connections, measuredMs),
      );
      rates[by].push(result.rate);
      delays.push(p99);
    }
  }
  const share = (by: 'cookie' | 'token' | 'verify') =>
    rates[by].map((rate, at) => (100 * rate) / (rates.hello[at] ?? rate));
  return [
    figure('Express + helmet + JSON, "hello"', rates.hello, '/s'),
    figure('GET /me by cookie', rates.cookie, '/s'),
    figure('GET /me by cookie, against hello', share('cookie'), '%', { least }),
    figure('GET /me by token', rates.token, '/s'),
    figure('GET /me by token, against hello', share('token'), '%', { least }),
    figure('forward auth', rates.verify, '/s'),
    figure(
      'forward auth, against hello',
      share('verify'),
      '%',
      stage.name === 'SQLite' ? { least: 50 } : undefined,
    ),
    figure('event-loop delay p99', delays, 'ms', { most: 15 }),
  ];
}
