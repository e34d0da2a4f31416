import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { parse } from '../../input.ts';
import type { Right } from '../../services/foundation/authority/table.ts';
import type { Ending } from '../../services/foundation/ending.ts';
import { ownSessionOf } from '../../services/people/sessions/end.ts';
import {
  type CookieChange,
  type CookieName,
  continuationCookies,
  pendingCookie,
  type SessionTokens,
  sessionCookies,
} from '../cookies.ts';
import { refusalForClients } from '../refusals.ts';
import { pathKeys } from '../route.ts';
import type { Html } from './html.ts';
import { refuseSentAgain, rememberShown } from './sent-again.ts';
import { valuesOf } from './values.ts';

/** One request to a page. */
export interface Visit {
  ctx: Context;
  /** The token that the forms of the page carry. */
  token: string;
  /** A cookie of the request; a cookie that is sent twice counts as absent. */
  cookie(name: CookieName): string | undefined;
  /** The fields of the path, and of the form or of the query, without empty fields. */
  given: Record<string, string>;
  /** A mark of what was sent: a reloaded form has the same again. */
  sent: string;
  /** Runs an operation with all its checks, then rolls it back. */
  rehearse<Input, View>(operation: Rehearsed<Input, View>, input: Input): Promise<View>;
  /** The refusal of the form. */
  refusal?: Refusal;
  /** The labels of fields that have another one on other pages. */
  labels?: Record<string, string>;
}

interface Rehearsed<Input, View> {
  (ctx: Context, input: Input): Promise<View>;
  readonly rehearse?: (ctx: Context, input: Input) => Promise<View>;
}

/** Whether a person is signed in with a session. A token does not open a page. */
export function isSignedIn({ actor }: Pick<Context, 'actor'>): boolean {
  return ownSessionOf(actor) !== null;
}

/** The reply: a page to show, or an address to redirect to. */
export type PageReply = (ShownPage | { goTo: string }) & { cookies?: CookieChange[] };

/** A page to show. */
export interface ShownPage {
  title: string;
  main: Html;
  /** The page is wide, because it has several forms. */
  wide?: true;
  /** The refusal that the page shows. The answer takes its status and headers. */
  refusal?: Refusal;
  /** The page has a passkey form, and loads the script for it. */
  script?: true | undefined;
  cookies?: CookieChange[];
  /** The page shows a secret. If the browser reloads it, the form is not run again. */
  once?: true;
  /** The address that the browser opens without a click. */
  handOff?: string | undefined;
  /** Other origins to which the answers of its forms may redirect. */
  origins?: string[];
  /** The application that the person signs in to. */
  application?: string | undefined;
}

interface Definition<Input extends z.ZodObject> {
  /** A path in Express's form: `/orgs/:org`. Every `:key` is a field of the input. */
  path: string;
  /**
   * `person` requires a session, and so does a row of the authority table; other people sign in
   * first.
   */
  access: 'public' | 'person' | Right;
  input: Input;
  /** The maximum size of a form in bytes, if it is not the usual one. */
  bytes?: number;
}

/** A page or a form, as the server routes it. */
export interface Page extends Definition<z.ZodObject> {
  method: 'GET' | 'POST';
  answer(visit: Visit): Promise<PageReply>;
}

/** An operation as pages see it: a page has its authority and its input. */
export interface PageOperation<Input extends z.ZodObject, View> {
  (ctx: Context, input: z.output<Input>): Promise<View>;
  readonly authority: Right | 'operator' | 'public';
  readonly input: Input;
  readonly ends?: Ending<View, z.output<Input>>;
  readonly rehearse?: (ctx: Context, input: z.output<Input>) => Promise<View>;
}

/** The right that the page of an operation needs. */
export function accessTo({ authority }: Pick<PageOperation<z.ZodObject, never>, 'authority'>) {
  if (authority !== 'operator') return authority;
  throw new Error('the operator has no pages');
}

/** Defines a page that shows the view of an operation. */
export function viewPage<Input extends z.ZodObject, View>(
  path: string,
  operation: PageOperation<Input, View>,
  show: (visit: Visit, view: View, input: z.output<Input>) => Promise<ShownPage> | ShownPage,
  refused?: Acting<Input, View>['refused'],
): Page {
  return page({
    path,
    access: accessTo(operation),
    input: operation.input,
    show: async (visit, input) => show(visit, await operation(visit.ctx, input), input),
    refused,
  });
}

/** Defines a form that runs an operation; `reply` replies with its view. */
export function operationForm<Input extends z.ZodObject, View>(
  path: string,
  operation: PageOperation<Input, View>,
  { reply, ...more }: Acting<Input, View>,
): Page {
  return form({
    path,
    access: accessTo(operation),
    input: operation.input,
    act: async (visit, input) => reply(visit, await operation(visit.ctx, input), input),
    ...more,
  });
}

interface Acting<Input extends z.ZodObject, View> {
  reply: (visit: Visit, view: View, input: z.output<Input>) => Promise<PageReply> | PageReply;
  refused: (visit: Visit & { refusal: Refusal }) => Promise<ShownPage> | ShownPage;
  /** The fields of the form that empty their value if they are empty, instead of keeping it. */
  whole?: readonly string[];
}

/** Defines a page to show. With `refused`, a page with wrong fields, such as those of a search. */
export function page<Input extends z.ZodObject>(
  definition: Definition<Input> & {
    show: (visit: Visit, input: z.output<Input>) => Promise<PageReply> | PageReply;
    refused?: Acting<Input, never>['refused'] | undefined;
  },
): Page {
  const { show, refused, ...data } = definition;
  const answer = async (visit: Visit): Promise<PageReply> => {
    try {
      return await show(visit, inputOf(data, visit.given));
    } catch (error) {
      if (refused === undefined || !(error instanceof Refusal) || error.faults.length === 0)
        throw error;
      const shown = await refused({ ...visit, refusal: refusalForClients(error) });
      return { ...shown, refusal: error };
    }
  };
  return { ...data, method: 'GET', answer };
}

/** Defines a form: its input, its action, and the page that shows a refusal and the typed input. */
export function form<Input extends z.ZodObject>(
  definition: Definition<Input> & {
    act: (visit: Visit, input: z.output<Input>) => Promise<PageReply>;
  } & Omit<Acting<Input, never>, 'reply'>,
): Page {
  const { act, refused, whole, ...data } = definition;
  const answer = async (visit: Visit): Promise<PageReply> => {
    try {
      refuseSentAgain(visit);
      const reply = await act(visit, inputOf(data, visit.given, whole));
      if (!('once' in reply)) return reply;
      return { ...reply, cookies: [...(reply.cookies ?? []), rememberShown(visit)] };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, continuation } = error;
      if (code === 'second_factor_required' && continuation !== undefined)
        return toSecondFactor(continuation);
      const shown = await refused({ ...visit, refusal: refusalForClients(error) });
      const cookies = [...continuationCookies(error), ...(shown.cookies ?? [])];
      return { ...shown, refusal: error, cookies };
    }
  };
  return { ...data, method: 'POST', answer };
}

/** The name of a notice in the query of a page. Operations do not know it. */
export const noticeField = 'done';

/** Parses the fields. A wrong key of the path is a page that does not exist. */
function inputOf<Input extends z.ZodObject>(
  { path, input }: Pick<Definition<Input>, 'path' | 'input'>,
  given: Record<string, string>,
  whole?: readonly string[],
): z.output<Input> {
  const { [noticeField]: _, ...fields } = given;
  try {
    return parse(input, valuesOf(input, noticeField in input.shape ? given : fields, whole));
  } catch (error) {
    const keys = new Set(pathKeys(path));
    const isOfPath = error instanceof Refusal && error.faults.some((fault) => keys.has(fault.path));
    throw isOfPath ? new Refusal('not_found', 'There is no such page.') : error;
  }
}

/** Redirects a sign-in to the second factor, with the cookie that continues it. */
export function toSecondFactor(continuation: string) {
  return { goTo: '/login/code', cookies: [pendingCookie(continuation)] };
}

/** Completes a sign-in: sets the session's cookies and redirects to the requested page. */
export function arrive(session: SessionTokens, returnTo: string): PageReply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null)] };
}
