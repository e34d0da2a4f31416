import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const [first, last] = [10_100, 32_767];
/** The number of workers that never choose the same port. */
const workers = 8;
const ofEach = Math.floor((last - first) / workers);
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % workers;
let chosen = randomInt(ofEach);

/**
 * Finds ports of 127.0.0.1 that are free at the moment, for programs that cannot choose one. The
 * system takes the ports of outgoing connections from a higher range, so it takes none of these. A
 * program may start to listen much later: until then, no other worker gets the port, and this one
 * gets it again only after all others.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    chosen = (chosen + 1) % ofEach;
    const port = first + chosen * workers + worker;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** The port of a listening TCP server. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on TCP');
  return address.port;
}

/**
 * Connects to this port of 127.0.0.1 as soon as a program listens there; fails after ten seconds.
 */
export async function connectWhenListening(port: number): Promise<Socket> {
  for (let tries = 0; tries < 500; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      socket.destroy();
      await wait(20);
    }
  }
  throw new Error(`nothing listens on port ${port}`);
}
