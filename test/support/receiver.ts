import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { Answer } from './http.ts';
import { portOf } from './ports.ts';

/** A request that a receiver got. */
export interface Received {
  id: string;
  headers: Record<string, string>;
  body: string;
  /** The body, parsed. */
  message: Answer['body'];
}

/** Answers one request. */
export type Behaviour = (response: ServerResponse, received: Received) => unknown;

/** A receiver of webhooks on loopback. */
export interface Receiver {
  url: string;
  received: Received[];
  /** Sets the answer to each later request. Until then, the answer is 204. */
  behave(behaviour: Behaviour): void;
  stop(): Promise<void>;
}

export const answering =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end();

/** Starts a receiver on a free port, or on the port of a receiver that was stopped. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let behave = answering(204);
  const server = createServer(async (request, response) => {
    const one = await read(request);
    received.push(one);
    behave(response, one);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}/hooks`,
    received,
    behave: (behaviour) => {
      behave = behaviour;
    },
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<Received> {
  const body = await text(request);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const isJson = /json/.test(headers['content-type'] ?? '');
  const message = isJson ? JSON.parse(body) : undefined;
  return { id: headers['webhook-id'] ?? '', headers, body, message };
}

/** Whether the package of Standard Webhooks accepts the signature with this secret. */
export function isSignedBy(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
