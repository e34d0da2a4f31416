import { Op } from 'sequelize';
import { z } from 'zod';
import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hashOfToken } from '../../../crypto/secret.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SetupLink, setupParts } from '../../../database/models/setup-link.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthorityOver } from '../../foundation/authority/over.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent, viewActor } from '../../foundation/events/record.ts';
import { withoutSystemAccount } from '../../foundation/events/view.ts';
import { email, id, ref } from '../../foundation/fields.ts';
import { requireCapRoom } from '../../foundation/limits/caps.ts';
import { countInvitation, mayMailInvitation } from '../../foundation/limits/mail.ts';
import { list } from '../../foundation/list.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { queueMail } from '../../foundation/mail/queue.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { after } from '../../foundation/time.ts';
import {
  nameOf,
  newSetupLinkView,
  setupLinkView,
  setupPart,
  setupToken,
  setupUrl,
  viewSetupLink,
} from './setup-link.ts';

// Links with which people without an account set up parts of an organization (security O13).

const maxSeconds = 30 * 86_400;

/** Lists the links that have not expired, oldest first. */
export const listSetupLinks = operation({
  authority: 'setupLinks.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(setupLinkView),
  run: async (ctx, input, { organization }) => {
    const where = { organizationId: organization.id, expiresAt: { [Op.gt]: ctx.now } };
    return readRows(SetupLink, { where }, input, viewSetupLink);
  },
});

const createInput = z.strictObject({
  org: ref,
  for: list(setupPart, 10)
    .min(1, 'must name at least one part')
    .describe('The parts that the link opens.'),
  expires: z
    .string()
    .max(20)
    .refine(isLife, 'must be a duration from 1m to 30d, such as 12h or 7d')
    .default('7d')
    .describe('How long the link lives, from 1m to 30d.'),
  email: email.optional().describe('Where to mail the link, if this instance sends mail.'),
});

function isLife(text: string): boolean {
  const seconds = secondsOf(text);
  return seconds >= 60 && seconds <= maxSeconds;
}

/** Creates a link. The answer says whether a mail was queued. */
export const createSetupLink = operation({
  authority: 'setupLinks.create',
  input: createInput,
  output: newSetupLinkView,
  run: (ctx, input, { organization }) => transaction(() => create(ctx, organization, input)),
});

async function create(
  ctx: Context,
  organization: Organization,
  input: z.output<typeof createInput>,
) {
  const { id: organizationId } = organization;
  const { actor, now } = ctx;
  // The sweep deletes expired links late, and they must not count.
  await SetupLink.destroy({ where: { organizationId, expiresAt: { [Op.lte]: now } } });
  await requireCapRoom(organization, 'setupLinks');
  const linkId = orderedId();
  const token = setupToken(ctx, linkId);
  const link = await SetupLink.create({
    id: linkId,
    organizationId,
    tokenHash: hashOfToken(token),
    parts: setupParts.filter((part) => input.for.includes(part)),
    email: input.email ?? null,
    madeBy: withoutSystemAccount(await viewActor(actor, organizationId)),
    accountId: actor.kind === 'user' ? actor.accountId : null,
    createdAt: now,
    expiresAt: after(now, secondsOf(input.expires)),
  });
  const mailed = await mail(ctx, organization, link);
  await recordEvent(ctx, {
    kind: 'setup.link.created',
    ...about(link),
    data: { parts: link.parts, expiresAt: link.expiresAt.toISOString(), mailed },
  });
  const mailLimited = link.email !== null && isMailConfigured(ctx) && !mailed;
  return { ...viewSetupLink(link), url: setupUrl(ctx, token), mailed, mailLimited };
}

async function mail(ctx: Context, organization: Organization, link: SetupLink) {
  const { id: setupLink, email: to, organizationId } = link;
  if (to === null || !isMailConfigured(ctx)) return false;
  await countInvitation(ctx, organization);
  if (!(await mayMailInvitation(ctx, to, organizationId))) return false;
  await queueMail(ctx, { about: 'setupLink', setupLink, organizationId });
  return true;
}

function about(link: Pick<SetupLink, 'id' | 'email' | 'organizationId'>) {
  return eventAbout('setupLink', { id: link.id, name: nameOf(link) }, link.organizationId);
}

/** Ends a link, opened or not. The organization may be left out. */
export const revokeSetupLink = operation({
  authority: 'setupLinks.revoke',
  prove: async (ctx, { org, id: which }) => {
    if (org !== undefined) return requireAuthority(ctx, 'setupLinks.revoke', org);
    const link = await SetupLink.findByPk(which);
    return requireAuthorityOver(ctx, 'setupLinks.revoke', link?.organizationId, noLink(which));
  },
  input: z.strictObject({ org: ref.optional(), id }),
  output: setupLinkView,
  ends: {
    ask: (view) => `Revoke the ${called(view)}?`,
    effects: ({ state }) =>
      state === 'opened' ? ['The person who opened it can no longer continue.'] : [],
    done: (view) => `Revoked the ${called(view)}.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const where = { id: input.id, organizationId: organization.id };
      const link = await SetupLink.findOne({ where });
      if (link === null || (await SetupLink.destroy({ where })) === 0) throw noLink(input.id);
      await recordEvent(ctx, { kind: 'setup.link.revoked', ...about(link) });
      return viewSetupLink(link);
    }),
});

function called({ email: to }: { email: string | null }): string {
  return to === null ? 'setup link' : `setup link for ${to}`;
}

function noLink(linkId: string): Refusal {
  return new Refusal('not_found', `There is no setup link ${linkId}.`, {
    hint: { to: 'list them', operation: 'setup-link.list' },
  });
}
