import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Actor, Context } from '../../../context.ts';
import { hashOfToken } from '../../../crypto/secret.ts';
import { type SetupLink, type SetupPart, setupParts } from '../../../database/models/setup-link.ts';
import { Refusal } from '../../../errors.ts';
import { findLiving, type LivingLink } from '../../foundation/authority/setup-links.sql.ts';
import { actorView } from '../../foundation/events/view.ts';
import { id, instant } from '../../foundation/fields.ts';

// A setup link: its view, its token, and the actor that its browser is (security O13).

export const setupPart = z.enum(setupParts, `must be one of ${setupParts.join(', ')}`);

/** The parts as people read them. */
export const partWords: Record<SetupPart, string> = {
  domain: 'e-mail domains',
  sso: 'single sign-on',
  ldap: 'a directory (LDAP)',
  scim: 'provisioning (SCIM)',
};

/** The parts in words, for a sentence. Leaves out what is not a part. */
export function partsInWords(parts: readonly string[]): string {
  const named = Object.entries(partWords).filter(([part]) => parts.includes(part));
  return named.map(([, words]) => words).join(', ');
}

export const setupLinkView = z.object({
  id,
  for: z.array(setupPart),
  email: z.string().nullable().describe('The address that the link is for.'),
  state: z.enum(['unopened', 'opened']),
  createdBy: actorView,
  createdAt: instant,
  expiresAt: instant,
});

/** The link with its URL, which is shown once. */
export const newSetupLinkView = setupLinkView.extend({
  url: z.string(),
  mailed: z.boolean().describe('Whether a mail with the link was queued.'),
  mailLimited: z
    .boolean()
    .describe(
      'Whether no mail was queued because the organization mailed two links or invitations to this address within a day.',
    ),
});

/** A setup link as the owners see it. */
export function viewSetupLink(link: SetupLink): z.output<typeof setupLinkView> {
  return {
    id: link.id,
    for: link.parts,
    email: link.email,
    state: link.claimedAt === null ? 'unopened' : 'opened',
    createdBy: link.madeBy,
    createdAt: link.createdAt.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
  };
}

/** The token of a link, derived from its id: only its hash is stored, and a mail is written late. */
export function setupToken({ keyring }: Pick<Context, 'keyring'>, linkId: string): string {
  const mac = createHmac('sha256', keyring.derive('setup links')).update(linkId).digest();
  return mac.subarray(0, 16).toString('base64url');
}

/** The URL that opens the link. */
export function setupUrl({ config }: Pick<Context, 'config'>, token: string): string {
  return `${config.baseUrl}/setup/${token}`;
}

/** The name of the link in events. */
export function nameOf({ email }: { email: string | null }): string {
  return email ?? 'setup link';
}

/** Who acts in the browser to which the link is bound. */
export function actorOf(link: LivingLink): Actor & { kind: 'setupLink' } {
  const { id: linkId, organizationId, parts } = link;
  return { kind: 'setupLink', id: linkId, organizationId, name: nameOf(link), parts };
}

/** The actor of a browser's secret; null if its link has ended. */
export async function findSetupActor(
  { now }: Pick<Context, 'now'>,
  secret: string | undefined,
): Promise<Actor | null> {
  if (secret === undefined) return null;
  const link = await findLiving('browser_hash', hashOfToken(secret), now);
  return link && actorOf(link);
}

/** The one refusal of an unknown, expired, revoked or finished link. */
export function setupLinkInvalid(): Refusal {
  return new Refusal('setup_link_invalid', 'This setup link is invalid or has expired.', {
    hint: 'Ask for a new one.',
  });
}

/** The refusal in a browser other than the first. */
export function setupLinkUsed({ organization }: { organization: string }): Refusal {
  return new Refusal('setup_link_used', 'This setup link was opened in another browser.', {
    hint: `Continue there. If you cannot, ask an owner of ${organization} for a new one.`,
  });
}

/** The content of the mail with a link. Null if the link was opened or has ended. */
export async function describeSetupLink(ctx: Context, linkId: string) {
  const link = await findLiving('id', linkId, ctx.now);
  const token = setupToken(ctx, linkId);
  if (link === null || link.email === null || link.browserHash !== null) return null;
  // The token was created with an earlier master key, so only the owner has the link.
  if ((await findLiving('token_hash', hashOfToken(token), ctx.now)) === null) return null;
  const { email, organization, parts, expiresAt } = link;
  return { email, organization, parts, expiresAt, url: setupUrl(ctx, token) };
}
