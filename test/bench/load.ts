import { Pool } from 'undici';
import { percentile } from './figures.ts';

/** One request, which a load sends repeatedly. */
export interface Shot {
  path: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: object;
  /** The expected status. Any other is an error of the benchmark, except 503 in a storm. */
  expect: number;
}

/** The result of a load: answers a second, and durations in milliseconds. */
export interface Load {
  rate: number;
  p50: number;
  p99: number;
}

/** Keeps `connections` requests in flight for `ms` milliseconds. */
export async function load(
  url: string,
  shot: Shot,
  connections: number,
  ms: number,
): Promise<Load> {
  const times: number[] = [];
  const began = performance.now();
  await withPool(url, connections, async (pool) => {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (performance.now() - began < ms) times.push(await time(pool, shot));
      }),
    );
  });
  const seconds = (performance.now() - began) / 1000;
  return { rate: times.length / seconds, p50: percentile(times, 50), p99: percentile(times, 99) };
}

/** One connection that is kept open, for requests one at a time. */
export interface Line {
  /** Sends one request, and returns its duration in milliseconds. */
  time(shot: Shot): Promise<number>;
  close(): Promise<void>;
}

/** Opens a connection to the server that stays open. */
export function openLine(url: string): Line {
  const pool = new Pool(url, { connections: 1, pipelining: 1 });
  return { time: (shot) => time(pool, shot), close: () => pool.close() };
}

/**
 * Keeps `connections` requests in flight. The returned function stops this, and waits for the last
 * answers.
 */
export function storm(url: string, shot: Shot, connections: number): () => Promise<void> {
  let over = false;
  const raging = withPool(url, connections, async (pool) => {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (!over) await time(pool, shot, 503);
      }),
    );
  });
  return () => {
    over = true;
    return raging;
  };
}

async function withPool<T>(
  url: string,
  connections: number,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}

async function time(pool: Pool, shot: Shot, alsoExpect?: number): Promise<number> {
  const { path, method = 'GET', headers, body, expect } = shot;
  const began = performance.now();
  const answer = await pool.request({
    path,
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== expect && answer.statusCode !== alsoExpect)
    throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return performance.now() - began;
}
