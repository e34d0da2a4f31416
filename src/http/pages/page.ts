import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { parse } from '../../input.ts';
import {
  type CookieChange,
  type CookieName,
  continuationCookies,
  pendingCookie,
} from '../cookies.ts';
import type { Html } from './html.ts';

/** One request to a page. */
export interface Visit {
  ctx: Context;
  /** What the forms of the page carry. */
  token: string;
  /** A cookie of the request; one that is sent twice is none. */
  cookie(name: CookieName): string | undefined;
  /** What stood in the form, or in the address; what was left empty is not in it. */
  given: Record<string, string>;
  /** Why the form was refused. */
  refusal?: Refusal;
}

/** Whether it is somebody by a session of theirs: pages are for people. */
export function isSignedIn({ actor }: Pick<Context, 'actor'>): boolean {
  return actor.kind === 'user' && actor.via === 'session';
}

/** What goes back: something to show, or where to go on. */
export type PageReply = (ShownPage | { goTo: string }) & { cookies?: CookieChange[] };

/** A page to show. */
export interface ShownPage {
  title: string;
  main: Html;
  /** Wide for what is more than one form. */
  wide?: true;
  /** Why it is shown; its status and headers become the answer's. */
  refusal?: Refusal;
  /** Where the browser goes by itself: away, by a link that it need not be told to follow. */
  handOff?: string | undefined;
}

interface Definition<Input extends z.ZodObject> {
  path: string;
  /** `person`: for whoever is signed in by a session; others sign in first. */
  access: 'public' | 'person';
  input: Input;
}

/** A page or a form route, as the door walks them. */
export interface Page extends Definition<z.ZodObject> {
  method: 'GET' | 'POST';
  answer(visit: Visit): Promise<PageReply>;
}

/** Something to look at. */
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

/** What a form sends, what is done with it, and the page that says why it was refused, with what was typed. */
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
        return askSecondFactor(continuation);
      const cookies = continuationCookies(error);
      return { ...(await refused({ ...visit, refusal: error })), refusal: error, cookies };
    }
  };
  return { ...data, method: 'POST', answer };
}

/** Where a sign-in goes whose second factor is asked for, with the cookie that it goes on by. */
export function askSecondFactor(continuation: string) {
  return { goTo: '/login/code', cookies: [pendingCookie(continuation)] };
}
