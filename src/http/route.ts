import type { z } from 'zod';
import type { App, Context } from '../context.ts';
import { parse } from '../input.ts';
import type { Right } from '../services/foundation/authority/table.ts';
import type { Download } from '../services/foundation/download.ts';
import type { Operation } from '../services/foundation/operation.ts';
import type { authenticate } from '../services/people/authentication/authenticate.ts';
import type { Credential } from './authenticate.ts';
import { type BodyLimits, usualBody } from './body/limits.ts';
import type { CookieChange, CookieName } from './cookies.ts';
import { shape } from './long-answer.ts';
import type { Origins } from './origins.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The row of the authority table, which the service checks. `public` routes do not need a
 * credential.
 */
export type Access = 'public' | Right;

/** A field that the server fills in; with `orGiven`, a field that the caller sent wins. */
export type Fill = { cookie: CookieName; orGiven?: true } | 'fetchMetadata';

/** A route as the files in `routes/` declare it. */
interface Definition<Input extends z.ZodObject, Output extends z.ZodType, View> {
  summary: string;
  input: Input;
  /** The schema of the answer; without it, the answer is 204. */
  output?: Output | undefined;
  /** The media type of an answer that is a text; by default, the answer is JSON. */
  type?: string;
  /** The status of a success. With 204, the view is sent only on request or in a dry run. */
  status?: 200 | 201 | 202 | 204;
  /** Takes `?dryRun=true`: idctl rolls the operation back. Every DELETE with a view takes it. */
  dryRun?: true;
  /** The equivalent command. */
  cli?: string;
  /** The limits on the body; by default 100 KiB, 2,000 values, and 100 keys of an object. */
  body?: BodyLimits;
  /** On a public route, the service learns the actor if the request has a valid credential. */
  optionalActor?: true;
  /** Ignores unknown query parameters, as OAuth requires (X6). */
  lenientQuery?: true;
  /** OAuth style: a form, with the client in it or in HTTP Basic, and errors of RFC 6749 §5.2. */
  speaks?: 'oauth';
  /** Takes a form that a page of another site posts, without cookies. Ignores unknown fields. */
  crossSiteForm?: true;
  filled?: { [Field in keyof z.input<Input>]?: Fill };
  cookies?: (view: NoInfer<View>) => CookieChange[];
  /** Redirects a browser (or, with `always`, every client) instead of sending the output. */
  redirect?: { to: (view: NoInfer<View>) => string; always?: true };
  /** The whole list as a file: answers a request with `format` in the query. */
  download?: Downloads;
  run: (ctx: Context, input: z.output<Input>) => Promise<View> | View;
  /** The view has hints, which HTTP turns into text. */
  hints?: true;
  /** What is read of the caller's account together with the credential. */
  along?: Along;
  /** Runs a dry run, if `run` must not start inside a transaction. */
  rehearse?: (ctx: Context, input: z.output<Input>) => Promise<View>;
}

/** An operation whose answer is a file, with the media types of its formats. */
interface Downloads {
  /** Its input has the field `format`. */
  operation: { (ctx: Context, input: never): Promise<Download>; readonly input: z.ZodObject };
  types: readonly string[];
}

/** The reply to one request. */
export interface Reply {
  body: unknown;
  cookies: CookieChange[];
  location: string | undefined;
}

type Perform<Input> = (ctx: Context, input: Input, rehearse?: App['rehearse']) => Promise<Reply>;

/** A route: data, and `answer`, which parses the input, runs the service and shapes the view. */
export interface Route
  extends Omit<
    Definition<z.ZodObject, z.ZodType, never>,
    'status' | 'dryRun' | 'body' | 'cookies' | 'redirect' | 'run' | 'rehearse'
  > {
  method: Method;
  /** A path in Express's form: `/api/v1/orgs/:org`. Every `:key` is a field of the input. */
  path: string;
  access: Access;
  /** The operation that `answer` runs. The remote command line uses it to find the route. */
  operation: object;
  status: 200 | 201 | 202 | 204;
  dryRun: boolean;
  body: BodyLimits;
  setsCookies: boolean;
  redirects: 'browser' | 'always' | undefined;
  /** In a dry run, `rehearse` rolls the writes back. */
  answer: Perform<Record<string, unknown>>;
  /** Like `answer`, for input that was parsed with the schema. */
  perform: Perform<Record<string, unknown>>;
}

/** Creates a route to an operation, which defines the input and the output. */
export function route<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(
  method: Method,
  path: string,
  operation: Operation<Input, Output, View>,
  reach: Omit<
    Definition<Input, Output, View>,
    'input' | 'output' | 'run' | 'rehearse' | 'hints' | 'along'
  >,
): Route {
  const { authority, input, output, hints, along, rehearse } = operation;
  if (authority === 'operator')
    throw new Error(`${method} ${path}: the operator has no credential over HTTP`);
  return routeTo(authority, method, path, {
    ...reach,
    output,
    input,
    run: operation,
    ...(hints === undefined ? {} : { hints }),
    ...(along === undefined ? {} : { along }),
    ...(rehearse === undefined ? {} : { rehearse }),
  });
}

/** Creates a route to a function that checks the right `access` itself. */
export function routeTo<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(
  access: Access,
  method: Method,
  path: string,
  definition: Definition<Input, Output, View>,
): Route {
  const { output, cookies, redirect, run, rehearse: rehearsed, ...data } = definition;
  const { status = method === 'DELETE' ? 204 : 200, dryRun = method === 'DELETE' } = data;
  const { body = usualBody } = data;
  const perform: Perform<z.output<Input>> = async (ctx, parsed, rehearse) => {
    const work = async () => run(ctx, parsed);
    const view = await (rehearse === undefined
      ? work()
      : (rehearsed?.(ctx, parsed) ?? rehearse(work)));
    return {
      body: output && (await shape(output, view)),
      cookies: rehearse === undefined ? (cookies?.(view) ?? []) : [],
      location: redirect?.to(view),
    };
  };
  return {
    ...data,
    access,
    method,
    path,
    output,
    operation: run,
    status: output === undefined ? 204 : status,
    dryRun: dryRun && output !== undefined,
    setsCookies: cookies !== undefined,
    redirects: redirect && (redirect.always ? 'always' : 'browser'),
    body,
    answer: async (ctx, given, rehearse) => perform(ctx, parse(data.input, given), rehearse),
    // The caller has parsed the input with this schema.
    perform: (ctx, parsed, rehearse) => perform(ctx, parsed as z.output<Input>, rehearse),
  };
}

/** The path with the values of its keys. */
export function fillPath(path: string, values: Record<string, string | undefined>): string {
  return path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(values[key] ?? ''));
}

/** The names of the `:keys` in a route's path. */
export function pathKeys(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, key = '']) => key);
}

/** The shared parts that a request handler needs, in addition to its route. */
export interface Door {
  app: App;
  origins: Origins;
  authenticate: Authenticate;
}

/** Finds the actor of a credential, or refuses with `invalid_credential`. */
export type Authenticate = typeof authenticate;

type Along = Parameters<Authenticate>[2];

/** The context with the actor of the credential; refuses with `invalid_credential`. */
export async function contextOfCredential(
  ctx: Context,
  { value }: Credential,
  authenticate: Authenticate,
  along?: Along,
): Promise<Context> {
  const authenticateAgain = () => authenticate(ctx, value);
  return { ...ctx, actor: await authenticate(ctx, value, along), authenticateAgain };
}
