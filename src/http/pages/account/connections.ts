import { X509Certificate } from 'node:crypto';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { SettingWords } from '../../../services/foundation/setting-words.ts';
import type { Waiting } from '../../../services/signin/waiting.ts';
import { ldapWords } from '../../../services/tenancy/ldap/words.ts';
import { ssoWords } from '../../../services/tenancy/sso/words.ts';
import { type Html, html } from '../html.ts';
import { postForm } from '../parts.ts';
import { rows } from '../rows.ts';
import { type Described, type Draft, isTold, section } from './section.ts';

/** The words for the values that say where a connection points. */
const words: Record<string, SettingWords> = { ...ssoWords, ...ldapWords };

/** The section of the connections that wait for the person's approval; null if none waits. */
export function connectionsSection(draft: Draft, { waiting }: Described): Html | null {
  if (waiting.length === 0 && !isTold(draft)) return null;
  return section(draft, 'connections', html`${waiting.map((one) => connection(draft, one))}`);
}

function connection(draft: Draft, { kind, organization, ...one }: Waiting): Html {
  const { before, now, enabled, pointsAt } = one;
  const fields = Object.keys(now);
  const isChanged = (field: string) => before === null || before[field] !== now[field];
  const same = fields.filter((field) => !isChanged(field));
  const state = html`<p>${before === null ? 'New' : 'Changed'}, by ${nameOf(one)}.${!enabled && ' It is switched off.'} Until an owner approves this connection, no owner can sign in through it.</p>`;
  const changed = fields
    .filter(isChanged)
    .map((field) => row(field, textOf(field, now), before && textOf(field, before)));
  const along = { kind, org: organization.id, pointsAt };
  return html`<h3>${connectionKinds[kind].title} of ${organization.name}</h3>
${state}
${rows(changed)}
${same.length > 0 && html`<details><summary>Values that did not change</summary>${rows(same.map((field) => row(field, textOf(field, now), null)))}</details>`}
<p class="quiet">Check each value with the person who made the change. This ${connectionKinds[kind].server} decides who signs in as a member of ${organization.name}.</p>
${postForm(draft, '/account/connections/approve#connections', html`<button type="submit">Approve</button>`, along)}`;
}

function row(field: string, now: string, before: string | null) {
  const { page, label = field } = words[field] ?? {};
  return {
    name: page?.label ?? label,
    text: now,
    facts: [before !== null && `Before: ${before}`],
  };
}

function nameOf({ changedBy, changedByEmail }: Pick<Waiting, 'changedBy' | 'changedByEmail'>) {
  if (changedBy === null) return 'an unknown person';
  const name = changedBy.name ?? changedBy.kind;
  return changedByEmail === null ? name : `${name} (${changedByEmail})`;
}

function textOf(field: string, pointing: Waiting['now']): string {
  const value = pointing[field] ?? null;
  const word = words[field]?.page?.values?.[String(value)];
  if (word !== undefined) return word;
  return field === 'caCertificate' ? fingerprintsOf(String(value)) : String(value ?? 'none');
}

/** The fingerprints of certificates (PEM), which people can compare. */
function fingerprintsOf(pem: string): string {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  return (certificates ?? []).map((one) => new X509Certificate(one).fingerprint256).join(', ');
}
