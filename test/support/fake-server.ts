import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { onTestFinished } from 'vitest';
import { portOf } from './ports.ts';

/** A server that stands in for an idctl server or an attacker's server. */
export interface Fake {
  url: string;
  /** The method, path and credential of each request. */
  asked: string[];
}

/** Answers one request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that answers with `answer` and records each request. */
export async function serve(answer: Answer, tls?: { key: string; cert: string }): Promise<Fake> {
  const asked: string[] = [];
  const listener: Answer = (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    answer(request, response);
  };
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const port = portOf(server);
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, asked };
}

/** Answers in JSON. */
export const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** The id of every object of the server. */
export const id = '0198c0de-0000-7000-8000-000000000000';
/** The time at which every object of the server was created. */
export const createdAt = '2026-11-22T10:00:00.000Z';

/** Answers like a server with one account and one organization with this slug. */
export const organizationOf =
  (slug: string): Answer =>
  (request, response) => {
    if (request.url?.startsWith('/api/v1/me'))
      return void json(response, 200, { id, email: 'ada@acme.test', organizations: [] });
    json(response, 200, { items: [{ id, slug, name: slug, createdAt }], nextCursor: null });
  };
