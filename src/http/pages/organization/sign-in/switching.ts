import { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { Right } from '../../../../services/foundation/authority/table.ts';
import { ref } from '../../../../services/foundation/fields.ts';
import { endingPages } from '../../ending.ts';
import {
  accessTo,
  form,
  type Page,
  type PageOperation,
  type ShownPage,
  type Visit,
} from '../../page.ts';
import { goTo } from '../sheet.ts';
import type { Examined } from './connection.ts';
import { isBehindLink, pathOf, path as signInPath } from './path.ts';
import { shutOutBy } from './shut-out.ts';

// What the pages of a provider and of a directory have in common.

const key = z.strictObject({ org: ref });

/** An operation on the connection of an organization. */
interface OnConnection<View> {
  (ctx: Context, input: { org: string }): Promise<View>;
  readonly authority: Right | 'operator' | 'public';
}

/** The forms that test the connection, and that switch it on after a test. */
export function switchingForms(
  of: string,
  kind: 'sso' | 'ldap',
  {
    test,
    enable,
    show,
  }: {
    test: OnConnection<Examined>;
    enable: OnConnection<unknown>;
    /** Shows the connection. `anyway` is the form that skips the failed test. */
    show: (visit: Visit, test?: Examined, anyway?: string) => Promise<ShownPage>;
  },
): Page[] {
  const refused = (visit: Visit) => show(visit);
  const at = (visit: Visit) => `${pathOf(visit)}/${kind}`;
  return [
    form({
      path: `${of}/test`,
      access: accessTo(test),
      input: key,
      act: async (visit, input) => show(visit, await test(visit.ctx, input)),
      refused,
    }),
    form({
      path: `${of}/enable`,
      access: accessTo(enable),
      input: key.extend({ untested: z.boolean().optional() }),
      act: async (visit, { untested, ...input }) => {
        await visit.rehearse(enable, input);
        const found = untested ? null : await test(visit.ctx, input);
        if (found !== null && !found.ok) return show(visit, found, `${at(visit)}/enable`);
        await enable(visit.ctx, input);
        return goTo(visit, at(visit), 'connection-on');
      },
      refused,
    }),
  ];
}

/**
 * Tests settings that would replace those of a connection that is on, because wrong ones would stop
 * all sign-ins through it. Returns the test if it failed. A setup link cannot skip the test (security
 * O13).
 */
export async function findFault(
  visit: Visit,
  { enabled, untested }: { enabled: boolean; untested: boolean | undefined },
  test: () => Promise<Examined>,
): Promise<Examined | null> {
  if (!enabled || (untested && !isBehindLink(visit))) return null;
  const found = await test();
  return found.ok ? null : found;
}

/** The pages that switch the connection off, and that remove it. */
export function switchingOffPages<Input extends typeof key, Off, Removed>(
  kind: 'sso' | 'ldap',
  disable: PageOperation<Input, Off>,
  remove: PageOperation<Input, Removed>,
): Page[] {
  const path = `${signInPath}/${kind}`;
  return [
    ...endingPages(`${path}/disable`, disable, {
      act: 'Switch off',
      back: path,
      further: (ctx, { org }) => shutOutBy(ctx, { org, change: `${kind}.disable` }),
      reply: (visit) => goTo(visit, `${pathOf(visit)}/${kind}`, 'connection-off'),
    }),
    ...endingPages(`${path}/remove`, remove, {
      act: 'Remove connection',
      back: path,
      further: (ctx, { org }) => shutOutBy(ctx, { org, change: `${kind}.remove` }),
      reply: (visit) => goTo(visit, pathOf(visit), 'connection-removed'),
    }),
  ];
}
