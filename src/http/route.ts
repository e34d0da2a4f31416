import type { z } from 'zod';
import type { Actor, App, Context } from '../context.ts';
import { parse } from '../input.ts';
import type { Right } from '../services/foundation/authority/table.ts';
import type { Operation } from '../services/foundation/operation.ts';
import type { CredentialPlace } from './authenticate.ts';
import type { CookieChange, CookieName } from './cookies.ts';
import type { Origins } from './origins.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The row of the authority table that the service proves; the door itself only tells `public` from the rest. */
export type Access = 'public' | Right;

/**
 * What the door itself puts into a field of the input: a cookie's value (`orGiven`: unless the caller gave the
 * field), or whether the request carries fetch metadata, as a browser's does.
 */
export type Fill = { cookie: CookieName; orGiven?: true } | 'fetchMetadata';

/** One operation on the HTTP surface, as the files in `routes/` write it. */
interface Definition<Input extends z.ZodObject, Output extends z.ZodType, View> {
  method: Method;
  /** In Express's form: `/api/v1/orgs/:org`. Every `:key` is a field of the input. */
  path: string;
  summary: string;
  access: Access;
  input: Input;
  /** What may leave; without it the answer is 204. */
  output?: Output;
  status?: 200 | 201 | 202;
  /** The command that does the same. */
  cli?: string;
  /** On a public route: who asks is told to the service when a credential proves it, and is anonymous otherwise. */
  optionalActor?: true;
  /** Unknown query parameters are ignored, as OAuth wants it (X6). */
  lenientQuery?: true;
  /** As OAuth has it: asked by a form, the client in it or by Basic, and refused by an error of RFC 6749 §5.2. */
  speaks?: 'oauth';
  filled?: { [Field in keyof z.input<Input>]?: Fill };
  cookies?: (view: NoInfer<View>) => CookieChange[];
  /** Where a browser (or, with `always`, everybody) is sent instead of getting the output. */
  redirect?: { to: (view: NoInfer<View>) => string; always?: true };
  run: (ctx: Context, input: z.output<Input>) => Promise<View> | View;
}

/** What goes back for one request. */
export interface Reply {
  body: unknown;
  cookies: CookieChange[];
  location: string | undefined;
}

/** A route of the surface: plain data, and `answer`, which parses the input, runs the service and shapes its view. */
export interface Route
  extends Omit<
    Definition<z.ZodObject, z.ZodType, never>,
    'status' | 'cookies' | 'redirect' | 'run'
  > {
  status: 200 | 201 | 202 | 204;
  setsCookies: boolean;
  redirects: 'browser' | 'always' | undefined;
  answer(ctx: Context, given: Record<string, unknown>): Promise<Reply>;
}

/** How an operation is reached over HTTP: what `Definition` says beside the operation itself. */
type Reach<Input extends z.ZodObject, Output extends z.ZodType, View> = Omit<
  Definition<Input, Output, View>,
  'method' | 'path' | 'access' | 'input' | 'output' | 'run'
>;

/** A route to an operation, whose input and output are its own. */
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
/** A route that names its parts itself. */
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
  const { status = 200, cookies, redirect, run, ...data } = operation;
  return {
    ...data,
    status: operation.output === undefined ? 204 : status,
    setsCookies: cookies !== undefined,
    redirects: redirect && (redirect.always ? 'always' : 'browser'),
    answer: async (ctx, given) => {
      const view = await run(ctx, parse(operation.input, given));
      return {
        body: operation.output?.parse(view),
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

/** What answering needs to know beside the route. */
export interface Door {
  app: App;
  origins: Origins;
  authenticate: Authenticate;
}

/** The service that tells who a credential belongs to, or refuses `invalid_credential`. */
export type Authenticate = (
  ctx: Context,
  credential: string,
  at: CredentialPlace,
) => Promise<Actor>;
