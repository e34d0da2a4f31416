import type { z } from 'zod';
import type { Actor, App, Context } from '../context.ts';
import { parse } from '../input.ts';
import type { Right } from '../services/foundation/authority/table.ts';
import type { Operation } from '../services/foundation/operation.ts';
import type { CredentialPlace } from './authenticate.ts';
import type { CookieChange, CookieName } from './cookies.ts';
import type { Origins } from './origins.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The row of the authority table that the operation checks. The HTTP server only checks whether a
 * route is `public`.
 */
export type Access = 'public' | Right;

/**
 * The value that the server puts into an input field: a cookie, or whether the request has browser
 * fetch metadata. With `orGiven`, a field in the request takes precedence.
 */
export type Fill = { cookie: CookieName; orGiven?: true } | 'fetchMetadata';

/** The limit on a body with a document or a list, in bytes. Ten thousand entries fit. */
export const bodyOfManyEntries = 8 * 1024 * 1024;

/** A route as the files in `routes/` declare it. */
interface Definition<Input extends z.ZodObject, Output extends z.ZodType, View> {
  method: Method;
  /** A path in Express's form: `/api/v1/orgs/:org`. Every `:key` is a field of the input. */
  path: string;
  summary: string;
  access: Access;
  input: Input;
  /** The schema of the answer; without it, the answer is 204. */
  output?: Output;
  /** The status of a success. With 204, the view is sent only on request or in a dry run. */
  status?: 200 | 201 | 202 | 204;
  /** Takes `?dryRun=true`: idctl rolls the operation back. Every DELETE with a view takes it. */
  dryRun?: true;
  /** The equivalent command. */
  cli?: string;
  /** The limit on the body in bytes; 100 KiB by default. */
  bodyLimit?: number;
  /**
   * A public route that reads a valid credential, if there is one. Otherwise the actor is
   * anonymous.
   */
  optionalActor?: true;
  /** Ignores unknown query parameters, as OAuth requires (X6). */
  lenientQuery?: true;
  /**
   * OAuth style: the input is a form. The client authenticates in the form or with HTTP Basic.
   * Errors follow RFC 6749 §5.2.
   */
  speaks?: 'oauth';
  filled?: { [Field in keyof z.input<Input>]?: Fill };
  cookies?: (view: NoInfer<View>) => CookieChange[];
  /** Redirects a browser (or, with `always`, every client) instead of sending the output. */
  redirect?: { to: (view: NoInfer<View>) => string; always?: true };
  run: (ctx: Context, input: z.output<Input>) => Promise<View> | View;
}

/** The reply to one request. */
export interface Reply {
  body: unknown;
  cookies: CookieChange[];
  location: string | undefined;
}

/**
 * A route: plain data, and `answer`, which parses the input, runs the operation and shapes its
 * view.
 */
export interface Route
  extends Omit<
    Definition<z.ZodObject, z.ZodType, never>,
    'status' | 'dryRun' | 'cookies' | 'redirect' | 'run'
  > {
  /** The operation that `answer` runs. The remote command line uses it to find the route. */
  operation: object;
  status: 200 | 201 | 202 | 204;
  dryRun: boolean;
  setsCookies: boolean;
  redirects: 'browser' | 'always' | undefined;
  answer(ctx: Context, given: Record<string, unknown>): Promise<Reply>;
}

/**
 * The parts of `Definition` that an operation does not have itself.
 */
type Reach<Input extends z.ZodObject, Output extends z.ZodType, View> = Omit<
  Definition<Input, Output, View>,
  'method' | 'path' | 'access' | 'input' | 'output' | 'run'
>;

/** Creates a route to an operation, which defines the input and the output. */
export function route<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(
  method: Method,
  path: string,
  operation: Operation<Input, Output, View>,
  reach: Reach<Input, Output, View>,
): Route;
/** Creates a route from a whole definition. */
export function route<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(definition: Definition<Input, Output, View>): Route;
export function route<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(
  ...given:
    | [Definition<Input, Output, View>]
    | [Method, string, Operation<Input, Output, View>, Reach<Input, Output, View>]
): Route {
  return given.length === 1 ? tie(given[0]) : tie(definitionOf(...given));
}

function definitionOf<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  View extends z.input<Output>,
>(
  method: Method,
  path: string,
  operation: Operation<Input, Output, View>,
  reach: Reach<Input, Output, View>,
): Definition<Input, Output, View> {
  const { authority: access, input, output } = operation;
  if (access === 'operator')
    throw new Error(`${method} ${path}: the operator has no credential over HTTP`);
  return {
    ...reach,
    method,
    path,
    access,
    input,
    ...(output === undefined ? {} : { output }),
    run: operation,
  };
}

function tie<Input extends z.ZodObject, Output extends z.ZodType, View extends z.input<Output>>(
  operation: Definition<Input, Output, View>,
): Route {
  const { method, output, cookies, redirect, run, ...data } = operation;
  const { status = method === 'DELETE' ? 204 : 200, dryRun = method === 'DELETE' } = operation;
  return {
    ...data,
    method,
    ...(output === undefined ? {} : { output }),
    operation: run,
    status: output === undefined ? 204 : status,
    dryRun: dryRun && output !== undefined,
    setsCookies: cookies !== undefined,
    redirects: redirect && (redirect.always ? 'always' : 'browser'),
    answer: async (ctx, given) => {
      const view = await run(ctx, parse(operation.input, given));
      return {
        body: output?.parse(view),
        cookies: cookies?.(view) ?? [],
        location: redirect?.to(view),
      };
    },
  };
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
export type Authenticate = (
  ctx: Context,
  credential: string,
  at: CredentialPlace,
) => Promise<Actor>;
