import { type ConnectionKindName, connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { showScimWritten } from '../../../services/provisioning/scim/list/records.ts';
import { showScimToken } from '../../../services/provisioning/scim/token.ts';
import { listAttempts } from '../../../services/signin/attempts.ts';
import { listDomains } from '../../../services/tenancy/domains/operations.ts';
import { showLdap } from '../../../services/tenancy/ldap/operations.ts';
import { listMembers } from '../../../services/tenancy/memberships/operations.ts';
import { showSso } from '../../../services/tenancy/sso/operations.ts';
import { type Html, html } from '../html.ts';
import { badge, rows } from '../rows.ts';
import { ifThere } from './sign-in/if-there.ts';

/** A part of setting an organization up: whether it is done, its state, and the next step. */
interface Item {
  name: string;
  done: boolean;
  state: string;
  next?: string | Html | undefined;
  /** The page on which the next step is done. */
  link?: { href: string; text: string } | undefined;
}

interface Here {
  slug: string;
  role: string;
}

/** What is set up in the organization, and the next step of what is not. */
export async function setUpSection(ctx: Context, here: Here): Promise<Html> {
  const items = await Promise.all(
    [domainItem, connectionItem, directoryItem, peopleItem, ownersItem].map((of) => of(ctx, here)),
  );
  const entries = items.map(({ name, done, state, next, link }) => ({
    name,
    mark: badge(done ? 'done' : 'to do'),
    text: state,
    more: next !== undefined && html`<p class="quiet">${next}</p>`,
    action: link && html`<a class="button small" href="${link.href}">${link.text}</a>`,
  }));
  return html`<section aria-labelledby="set-up"><h2 id="set-up">Set up</h2>
${rows(entries)}</section>`;
}

async function domainItem(ctx: Context, { slug: org }: Here): Promise<Item> {
  const { items } = await listDomains(ctx, { org, limit: 200 });
  const verified = items.filter(({ state }) => state === 'Verified');
  const [pending] = items.filter(({ state }) => state === 'Pending');
  const item = { name: 'Your e-mail domain', done: verified.length > 0 };
  if (item.done) return { ...item, state: `Verified: ${listed(verified.map(nameOf))}.` };
  const link = { href: `/orgs/${org}/sign-in`, text: pending ? 'Check it' : 'Add a domain' };
  if (pending === undefined) {
    const next = 'You then get a TXT record for your DNS.';
    return { ...item, state: 'No domain has been added.', next, link };
  }
  const next = html`Add a TXT record to the DNS of ${pending.domain}, with the name <code>@</code> and the value <code>${pending.txtRecord.value}</code>. Then check it.`;
  return { ...item, state: `${pending.domain} is not verified yet.`, next, link };
}

const nameOf = ({ domain }: { domain: string }) => domain;

async function connectionItem(ctx: Context, here: Here): Promise<Item> {
  const { slug: org } = here;
  const sso = await ifThere(showSso(ctx, { org }));
  const ldap = await ifThere(showLdap(ctx, { org }));
  const item = { name: 'Sign-in through your company' };
  const found = [
    ...(sso === null ? [] : [{ ...sso, kind: 'sso' as const }]),
    ...(ldap === null ? [] : [{ ...ldap, kind: 'ldap' as const }]),
  ];
  const [on] = found.filter(({ enabled }) => enabled);
  const [off] = found;
  if (on !== undefined) {
    if (!on.approved) return { ...item, done: false, ...approval(on.kind, here) };
    const isTried = on.kind === 'ldap' || (await wasUsed(ctx, org));
    const state = `${connectionKinds[on.kind].some} is on.`;
    if (isTried) return { ...item, done: true, state };
    const next = 'Try it: open the sign-in page in a private window, and type your address.';
    return { ...item, done: false, state: `${state} No one has signed in with it yet.`, next };
  }
  if (off === undefined) {
    const next = 'Connect your provider, such as Entra ID or Okta, or your directory.';
    const link = { href: `/orgs/${org}/sign-in#connections`, text: 'Connect' };
    return {
      ...item,
      done: false,
      state: 'No provider and no directory is connected.',
      next,
      link,
    };
  }
  return {
    ...item,
    done: false,
    state: `${connectionKinds[off.kind].some} is switched off.`,
    next: 'Test it, then switch it on.',
    link: { href: `/orgs/${org}/sign-in/${off.kind}`, text: 'Test it' },
  };
}

function approval(kind: ConnectionKindName, { role }: Here): Pick<Item, 'state' | 'next' | 'link'> {
  const state = `${connectionKinds[kind].some} is on, but no owner has approved it.`;
  if (role === 'owner') return { state, link: { href: '/#connections', text: 'Look at it' } };
  return { state, next: 'Ask an owner to approve it on the account page.' };
}

/** Whether one of the last sign-ins through the organization's provider succeeded. */
async function wasUsed(ctx: Context, org: string): Promise<boolean> {
  const { items } = await listAttempts(ctx, { org, limit: 50 });
  return items.some(({ ok }) => ok);
}

async function directoryItem(ctx: Context, { slug: org, role }: Here): Promise<Item> {
  const { configured, lastUsedAt } = await showScimToken(ctx, { org });
  const { written } = await showScimWritten(ctx, { org });
  const item = { name: 'Accounts from your directory (SCIM)', done: configured && written };
  if (item.done) return { ...item, state: 'Your directory adds and removes people.' };
  if (configured && lastUsedAt !== null) {
    const next = 'In your directory, assign people or groups to the application, and start it.';
    const link = { href: `/orgs/${org}/directory`, text: 'See its requests' };
    const state = 'Your directory has connected, but has not sent a person or a group yet.';
    return { ...item, state, next, link };
  }
  if (configured) {
    const next = 'Enter the token and the address in your directory, and start it there.';
    const link = { href: `/orgs/${org}/directory`, text: 'See the address' };
    const state = 'There is a token, but your directory has not used it yet.';
    return { ...item, state, next, link };
  }
  const next = 'Optional. Your directory can add and remove people.';
  if (role !== 'owner') {
    const ask = `${next} Ask an owner for a token.`;
    return { ...item, state: 'Not connected. You add and remove people yourself.', next: ask };
  }
  const link = { href: `/orgs/${org}/directory`, text: 'Connect' };
  return { ...item, state: 'Not connected. You add and remove people yourself.', next, link };
}

async function peopleItem(ctx: Context, { slug: org }: Here): Promise<Item> {
  const { items } = await listMembers(ctx, { org, limit: 2 });
  const link = { href: `/orgs/${org}/people/invite`, text: 'Invite people' };
  const item = { name: 'People', done: items.length > 1, link };
  if (item.done) return { ...item, state: 'People have joined.' };
  return { ...item, state: 'You are the only member.' };
}

async function ownersItem(ctx: Context, { slug: org }: Here): Promise<Item> {
  const { items } = await listMembers(ctx, { org, role: 'owner', limit: 2 });
  const item = { name: 'A second owner', done: items.length > 1 };
  if (item.done) return { ...item, state: 'There is more than one owner.' };
  const next = 'If the only owner loses their access, no one can do what only owners can do.';
  const link = { href: `/orgs/${org}/people`, text: 'Choose a person' };
  return { ...item, state: 'There is one owner.', next, link };
}

const maxNamed = 5;

function listed(names: string[]): string {
  const more = names.length - maxNamed;
  const some = more > 0 ? [...names.slice(0, maxNamed), `${more} more`] : names;
  return new Intl.ListFormat('en').format(some);
}
