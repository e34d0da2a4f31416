import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hashOfToken, isEqual, randomToken } from '../../../crypto/secret.ts';
import { Account } from '../../../database/models/account.ts';
import { SetupLink } from '../../../database/models/setup-link.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { isAllowed, requireAuthority } from '../../foundation/authority/require.ts';
import { findLiving, type LivingLink } from '../../foundation/authority/setup-links.sql.ts';
import { rightsOfParts } from '../../foundation/authority/setup-parts.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { operation } from '../../foundation/operation.ts';
import { actorOf, setupLinkInvalid, setupLinkUsed } from './setup-link.ts';

// What the holder of a setup link does with it: looks at it, opens it, and finishes (security O13).

const token = z.string().min(1).max(100);

async function requireLiving({ now }: Context, given: string): Promise<LivingLink> {
  const link = await findLiving('token_hash', hashOfToken(given), now);
  if (link === null) throw setupLinkInvalid();
  return link;
}

/**
 * Describes a link to the holder of its token. `browser` is the secret of a browser that may have
 * opened it. Refuses with `setup_link_used` if another browser has.
 */
export const lookAtSetupLink = operation({
  authority: 'public',
  input: z.strictObject({ token, browser: z.string().max(100).optional() }),
  run: async (ctx, { token: given, browser }) => {
    const link = await requireLiving(ctx, given);
    const { organizationId, organization, parts, browserHash } = link;
    const isHere = browserHash !== null && isEqual(browserHash, hashOfToken(browser ?? ''));
    if (browserHash !== null && !isHere) throw setupLinkUsed(link);
    return { organizationId, organization, parts, isHere, needed: !(await maySetUp(ctx, link)) };
  },
});

/** Whether the person who is signed in may already change these parts, without the link. */
async function maySetUp(ctx: Context, { organizationId, parts }: LivingLink): Promise<boolean> {
  if (ctx.actor.kind !== 'user') return false;
  try {
    const { role } = await requireAuthority(ctx, 'organization.see', organizationId);
    return [...rightsOfParts(parts)].every((right) => isAllowed(role, right));
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Binds the link to a browser, and returns the browser's secret. Only the first one succeeds. */
export const openSetupLink = operation({
  authority: 'public',
  input: z.strictObject({ token }),
  run: (ctx, { token: given }) =>
    transaction(async () => {
      const link = await requireLiving(ctx, given);
      const browser = randomToken(128);
      const [won] = await SetupLink.update(
        { browserHash: hashOfToken(browser), claimedAt: ctx.now },
        { where: { id: link.id, claimedAt: null } },
      );
      if (won === 0) throw setupLinkUsed(link);
      const actor = actorOf(link);
      const subject = eventAbout('setupLink', actor, link.organizationId);
      await recordEvent({ ...ctx, actor }, { kind: 'setup.link.opened', ...subject });
      return { browser, seconds: (link.expiresAt.getTime() - ctx.now.getTime()) / 1000 };
    }),
});

/** Ends the link of the browser that asks. What was set up stays. Tells the owner who made it. */
export const finishSetup = operation({
  authority: 'organization.see',
  prove: async (ctx, { org }) => {
    const { organization } = await requireAuthority(ctx, 'organization.see', org);
    if (ctx.actor.kind === 'setupLink') return { organization, actor: ctx.actor };
    throw new Refusal('forbidden', 'Only the holder of a setup link can do this.');
  },
  input: z.strictObject({ org: ref }),
  ends: {
    ask: () => 'Are you done?',
    effects: () => ['Your setup link ends, here and everywhere else. What you set up stays.'],
    done: () => 'The setup link has ended.',
  },
  run: (ctx, _input, { organization, actor }) =>
    transaction(async () => {
      const link = await SetupLink.findByPk(actor.id);
      if (link === null || (await SetupLink.destroy({ where: { id: link.id } })) === 0)
        throw setupLinkInvalid();
      const subject = eventAbout('setupLink', actor, organization.id);
      await recordEvent(ctx, { kind: 'setup.link.finished', ...subject });
      const maker = link.accountId === null ? null : await Account.findByPk(link.accountId);
      const notice = { organization: organization.name, by: link.email };
      if (maker !== null) await notify(ctx, maker, { what: 'setup-finished', ...notice });
      return { organization: organization.name };
    }),
});
