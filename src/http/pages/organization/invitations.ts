import { z } from 'zod';
import { Refusal, refuseField } from '../../../errors.ts';
import { parse } from '../../../input.ts';
import { isAllowed } from '../../../services/foundation/authority/require.ts';
import { rightToInvite } from '../../../services/tenancy/invitations/invitation.ts';
import {
  createInvitation,
  listInvitations,
  revokeInvitation,
} from '../../../services/tenancy/invitations/operations.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { dayText } from '../../../text/dates.ts';
import { endingPages } from '../ending.ts';
import { type Html, html } from '../html.ts';
import { form, type Page, page, type ShownPage, type Visit, viewPage } from '../page.ts';
import { area, choice, postForm } from '../parts.ts';
import { badge, button, endingLink, pageLinks, rows } from '../rows.ts';
import { goTo, sheet } from './sheet.ts';
import { roleNote, roleOptions } from './words.ts';

const path = '/orgs/:org/people/invite';
const { org, role } = createInvitation.input.shape;
const maxLength = 20_000;

type Listed = Awaited<ReturnType<typeof listInvitations>>['items'][number];
type Invited = Awaited<ReturnType<typeof createInvitation>>;

/** An address that was not invited, and why. */
interface Refused {
  email: string;
  refusal: Refusal;
}

/** The pages on which people are invited, and on which invitations are seen and revoked. */
export const invitationPages: Page[] = [
  page({
    path,
    access: 'invitations.change',
    input: z.strictObject({ org, role: role.unwrap().optional() }),
    show: (visit) => askWhom(visit),
  }),
  form({
    path,
    access: 'invitations.change',
    input: z.strictObject({ org, role, emails: z.string().max(maxLength).default('') }),
    act: async (visit, { emails, ...as }) => {
      const { invited, refused } = await inviteEach(visit, addressesIn(emails), as);
      if (invited.length === 0) throw refusalOfAll(refused);
      return showInvited(visit, invited, refused);
    },
    refused: (visit) => askWhom(visit),
  }),
  viewPage('/orgs/:org/invitations', listInvitations, async (visit, view, asked) => {
    const { slug, name } = await showOrganization(visit.ctx, { org: asked.org });
    const at = `/orgs/${slug}/invitations`;
    const cursors = { nextCursor: view.nextCursor, previousCursor: null };
    return sheet(
      visit,
      `Invitations to ${name}`,
      html`<section aria-label="Invitations">
<p><a class="button small" href="/orgs/${slug}/people/invite">Invite people</a></p>
${rows(
  view.items.map((invitation) => rowOf(visit, slug, invitation)),
  'No invitation is waiting for an answer.',
)}</section>
${pageLinks(at, {}, cursors)}`,
    );
  }),
  ...endingPages('/orgs/:org/invitations/:id/revoke', revokeInvitation, {
    act: 'Revoke invitation',
    back: '/orgs/:org/invitations',
    reply: (visit) =>
      goTo(visit, `/orgs/${encodeURIComponent(visit.given['org'] ?? '')}/invitations`, 'revoked'),
  }),
];

const invalidTexts: Record<NonNullable<Listed['invalidBecause']>, string> = {
  inviter_left: 'Invalid, because the person who invited has left.',
  inviter_disabled: 'Invalid, because the account of the person who invited is disabled.',
  inviter_role: 'Invalid, because the person who invited may no longer give this role.',
};

function rowOf(visit: Visit, slug: string, { id, email, role, expiresAt, invalidBecause }: Listed) {
  const again = button(visit, `/orgs/${slug}/people/invite`, 'Send again', { emails: email, role });
  const revoke = endingLink(`/orgs/${slug}/invitations/${id}/revoke`, 'Revoke');
  return {
    name: email,
    mark: badge(role),
    facts: [
      `Expires ${dayText(expiresAt)}`,
      invalidBecause === null ? '' : `${invalidTexts[invalidBecause]} Send it again.`,
    ],
    action: html`<div class="buttons">${again}${revoke}</div>`,
  };
}

const maxAtOnce = 50;

/**
 * The addresses in a text: one on each line, or between commas, also as `Ada <ada@acme.com>`. Mail
 * programs write `"Byron, Ada" <ada@acme.com>`: this comma does not end the address.
 */
function addressesIn(text: string): string[] {
  const parts = text
    .replace(/"[^"\r\n]*"\s*(?=<)/g, '')
    .split(/[\r\n,;]+/)
    .flatMap((part) => {
      const [, inside] = /<([^<>\s]+@[^<>\s]+)>\s*$/.exec(part) ?? [];
      return inside === undefined ? part.split(/\s+/) : [inside];
    });
  const addresses = [...new Set(parts.filter((part) => part !== ''))];
  if (addresses.length === 0) throw refuseField('emails', 'enter at least one');
  if (addresses.length > maxAtOnce) throw refuseField('emails', `enter at most ${maxAtOnce}`);
  return addresses;
}

const ofOneAddress: ReadonlySet<string> = new Set([
  'invalid_input',
  'already_exists',
  'too_many_requests',
]);

/** Invites each address on its own. A refusal that is not about a single address stops the loop. */
async function inviteEach({ ctx }: Visit, addresses: string[], as: { org: string; role: string }) {
  const invited: Invited[] = [];
  const refused: Refused[] = [];
  for (const email of addresses) {
    try {
      const input = parse(createInvitation.input, { ...as, email });
      invited.push(await createInvitation(ctx, input));
    } catch (error) {
      if (!(error instanceof Refusal) || !ofOneAddress.has(error.code)) throw error;
      refused.push({ email, refusal: error });
    }
  }
  return { invited, refused };
}

/** The refusal of a form by which no one was invited. */
function refusalOfAll(refused: Refused[]): Refusal {
  const [first] = refused;
  if (first === undefined) throw new Error('no address was refused');
  if (first.refusal.code === 'too_many_requests') return first.refusal;
  const faults = refused.map((each) => ({ path: 'emails', message: reasonOf(each) }));
  const { code, hint } = first.refusal;
  return new Refusal(code, 'No one was invited.', { faults, ...(hint && { hint }) });
}

/** The reason, which names the address, without a full stop. */
function reasonOf({ email, refusal: { faults, message } }: Refused): string {
  const [fault] = faults;
  if (fault !== undefined) return `${email} ${fault.message}`;
  const reason = message.replace(/\.$/, '');
  return reason.toLowerCase().includes(email.toLowerCase()) ? reason : `${email}: ${reason}`;
}

const organizationOf = ({ ctx, given }: Visit) =>
  showOrganization(ctx, { org: given['org'] ?? '' });

async function askWhom(visit: Visit): Promise<ShownPage> {
  const own = await organizationOf(visit);
  return sheet(
    visit,
    `Invite people to ${own.name}`,
    html`<section aria-label="Invite">${inviteForm(visit, own)}</section>`,
  );
}

/** The form to invite people, with the role that was chosen before. */
function inviteForm(
  visit: Visit,
  own: Awaited<ReturnType<typeof organizationOf>>,
  emails?: string,
): Html {
  const options = roleOptions((each) => isAllowed(own.role ?? 'member', rightToInvite(each)));
  const note = `One on each line, or with commas between them; at most ${maxAtOnce}.`;
  const content = html`${area(visit, { name: 'emails', label: 'E-mail addresses', note, maxLength, value: emails })}
${choice(visit, { name: 'role', label: 'Role', note: roleNote, options, value: visit.given['role'] ?? 'member' })}
<button type="submit">Invite</button>`;
  return postForm(visit, `/orgs/${own.slug}/people/invite`, content);
}

async function showInvited(
  visit: Visit,
  invited: Invited[],
  refused: Refused[],
): Promise<ShownPage> {
  const own = await organizationOf(visit);
  const some = rows(
    invited.map(({ email, role, url, replaced, ...mail }) => ({
      name: email,
      mark: badge(role),
      facts: [mailWords(mail), replaced && 'The earlier invitation is invalid now.'],
      more: !mail.mailed && html`<code class="secret">${url}</code>`,
    })),
  );
  const others = refused.map(({ email }) => email).join('\n');
  const left =
    refused.length > 0 &&
    html`<section aria-labelledby="refused-addresses"><h2 id="refused-addresses">Not invited</h2>
<ul class="facts">${refused.map((each) => html`<li>${reasonOf(each)}.</li>`)}</ul>
${inviteForm(visit, own, others)}</section>`;
  const content = html`<section aria-label="Invited">${some}
<p><a href="/orgs/${own.slug}/invitations">All invitations</a></p></section>
${left}`;
  return { ...sheet(visit, 'Invited', content), once: true };
}

function mailWords({ mailed, mailLimited }: Pick<Invited, 'mailed' | 'mailLimited'>): string {
  if (mailed) return 'A mail with a link is on its way. The link is valid for seven days.';
  const why = mailLimited
    ? 'This address got two mails within a day, so no mail was sent.'
    : 'This service does not send mail.';
  return `${why} Give the person this link. It is valid once, for seven days, and is not shown again.`;
}
