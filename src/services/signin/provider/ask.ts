import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { z } from 'zod';
import { innerRequest } from './inner.ts';
import { answerByProvider } from './provider.ts';
import type { Pages, ProviderRequest } from './request.ts';

// A request to idctl's OpenID provider from inside the process, without the network.

/** Replaces the error page for people: the body is the error itself. */
const pages: Pages = {
  fail(koa, out) {
    koa.body = out;
  },
  post() {},
  deny() {},
  breakOff() {},
};

/** Sends one request to idctl's OpenID provider, as the application or as the person's browser. */
export async function ask(
  { ctx, session }: Pick<ProviderRequest, 'ctx' | 'session'>,
  {
    url,
    form,
    authorization,
  }: { url: string; form?: Record<string, string>; authorization?: string },
) {
  const from = { socket: new Socket(), headers: authorization ? { authorization } : {} };
  const method = form === undefined ? 'GET' : 'POST';
  const accept = 'application/json';
  const request = innerRequest(from, ctx.config.baseUrl, {
    method,
    url,
    accept,
    ...(form && { form }),
  });
  const response = new CapturedResponse(request);
  const visit = { ctx, session, clients: new Map(), pages, fault: undefined };
  await answerByProvider(visit, request, response);
  if (visit.fault !== undefined) throw visit.fault;
  const isJson = String(response.getHeader('content-type')).startsWith('application/json');
  const body: unknown = isJson ? JSON.parse(response.text) : null;
  const { data } = failure.safeParse(body);
  return {
    body,
    location: String(response.getHeader('location') ?? ''),
    said: data ? `${data.error}: ${data.error_description}` : `HTTP ${response.statusCode}`,
  };
}

const failure = z.object({ error: z.string(), error_description: z.string().optional() });

/** A response that is read here and never sent. */
class CapturedResponse extends ServerResponse {
  text = '';

  override end(body?: unknown): this {
    this.text = typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : '';
    return this;
  }
}
