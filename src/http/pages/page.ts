import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { parse } from '../../input.ts';
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
import type { Html } from './html.ts';

/** One request to a page. */
export interface Visit {
  ctx: Context;
  /** The token that the forms of the page carry. */
  token: string;
  /** A cookie of the request; a cookie that is sent twice counts as absent. */
  cookie(name: CookieName): string | undefined;
  /** The fields of the form or of the query, without empty fields. */
  given: Record<string, string>;
  /** The refusal of the form. */
  refusal?: Refusal;
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
  /** The address that the browser opens without a click. */
  handOff?: string | undefined;
  /** Other origins to which the answers of its forms may redirect. */
  origins?: string[];
  /** The application that the person signs in to. */
  application?: string | undefined;
}

interface Definition<Input extends z.ZodObject> {
  path: string;
  /** `person` requires a session; other people sign in first. */
  access: 'public' | 'person';
  input: Input;
}

/** A page or a form, as the server routes it. */
export interface Page extends Definition<z.ZodObject> {
  method: 'GET' | 'POST';
  answer(visit: Visit): Promise<PageReply>;
}

/** Defines a page to show. */
export function page<Input extends z.ZodObject>(
  definition: Definition<Input> & {
    show: (visit: Visit, input: z.output<Input>) => Promise<PageReply> | PageReply;
  },
): Page {
  const { show, ...data } = definition;
  return {
    ...data,
    method: 'GET',
    answer: async (visit) => show(visit, parse(data.input, visit.given)),
  };
}

/** Defines a form: its input, its action, and the page that shows a refusal and the typed input. */
export function form<Input extends z.ZodObject>(
  definition: Definition<Input> & {
    act: (visit: Visit, input: z.output<Input>) => Promise<PageReply>;
    refused: (visit: Visit & { refusal: Refusal }) => Promise<ShownPage> | ShownPage;
  },
): Page {
  const { act, refused, ...data } = definition;
  const answer = async (visit: Visit): Promise<PageReply> => {
    try {
      return await act(visit, parse(data.input, visit.given));
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

/** Redirects a sign-in to the second factor, with the cookie that continues it. */
export function toSecondFactor(continuation: string) {
  return { goTo: '/login/code', cookies: [pendingCookie(continuation)] };
}

/** Completes a sign-in: sets the session's cookies and redirects to the requested page. */
export function arrive(session: SessionTokens, returnTo: string): PageReply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null)] };
}
