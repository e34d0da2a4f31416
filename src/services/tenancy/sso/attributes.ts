import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import type { SamlAttribute, SamlProof } from '../../../outbound/saml/saml.ts';
import { canonicalEmail, domainOf } from '../../foundation/domain-names/canonical.ts';
import { firstName, type Said } from './claims.ts';
import { type Groups, readClaim } from './groups.ts';

// What the attributes of a SAML provider say. Providers name them differently, so without a name in
// the connection, the usual names are tried: those of Entra ID and AD FS, then of Okta and Google,
// then of eduPerson, by name or friendly name.

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
const microsoft = 'http://schemas.microsoft.com';

const usual = {
  email: [
    `${claims}/emailaddress`,
    ...['email', 'emailAddress', 'e-mail', 'mail', 'user.email', 'primaryEmail'],
    'urn:oid:0.9.2342.19200300.100.1.3',
  ],
  groups: [
    `${microsoft}/ws/2008/06/identity/claims/groups`,
    'http://schemas.xmlsoap.org/claims/Group',
    ...['groups', 'group', 'memberOf', 'isMemberOf'],
    'urn:oid:1.3.6.1.4.1.5923.1.5.1.1',
  ],
  name: [
    `${microsoft}/identity/claims/displayname`,
    ...['displayName', 'urn:oid:2.16.840.1.113730.3.1.241'],
    ...['cn', 'urn:oid:2.5.4.3', 'commonName'],
  ],
  given: [`${claims}/givenname`, 'givenName', 'firstName', 'first_name', 'urn:oid:2.5.4.42'],
  family: [`${claims}/surname`, 'sn', 'surname', 'lastName', 'last_name', 'urn:oid:2.5.4.4'],
};

/** The attribute of Entra ID that stands for more groups than an answer can have. */
const groupsElsewhere = [`${microsoft}/claims/groups.link`];

type Connection = Pick<SsoConnection, 'emailDomain' | 'emailAttribute' | 'groupsAttribute'>;

/** Reads the attributes of a verified answer, as `readProof` reads claims. */
export function readAttributes(proof: SamlProof, connection: Connection): Said {
  const { attributes, issuer, subject } = proof;
  const find = (names: readonly string[]) => valuesOf(attributes, names);
  const given = [find(usual.given), find(usual.family)].map((values) => values?.[0] ?? '');
  return {
    issuer,
    subject,
    email: emailIn(addressesIn(proof, connection), connection),
    name: firstName([find(usual.name)?.[0], given.join(' ').trim()]),
    groups: groupsIn(attributes, connection),
  };
}

/** The values of the first of these names that is there; null if none is. */
function valuesOf(attributes: SamlAttribute[], names: readonly string[]): string[] | null {
  for (const name of names) {
    const found = attributes.filter((one) => isCalled(one, name));
    if (found.length > 0) return found.flatMap(({ values }) => values);
  }
  return null;
}

function isCalled({ name, friendlyName }: SamlAttribute, wanted: string): boolean {
  return [name, friendlyName ?? ''].some((one) => one.toLowerCase() === wanted.toLowerCase());
}

const addressFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

function addressesIn({ attributes, nameId }: SamlProof, { emailAttribute }: Connection): string[] {
  if (emailAttribute !== null) return valuesOf(attributes, [emailAttribute]) ?? [];
  const found = valuesOf(attributes, usual.email);
  if (found !== null) return found;
  return nameId?.format === addressFormat ? [nameId.value] : [];
}

/** Exactly one address has to be on the domain of the connection (security S11). */
function emailIn(values: string[], { emailDomain }: Connection): Said['email'] {
  const given = values.filter((value) => value.trim() !== '');
  if (given.length === 0) return { reason: 'email_missing' };
  const addresses = [...new Set(given.flatMap((value) => canonicalEmail(value.trim()) ?? []))];
  const [first] = addresses;
  if (first === undefined) return { reason: 'email_malformed' };
  const own = addresses.filter((address) => domainOf(address) === emailDomain);
  if (own.length > 1) return { reason: 'email_several' };
  return { address: own[0] ?? first, denied: false };
}

function groupsIn(attributes: SamlAttribute[], { groupsAttribute }: Connection): Groups {
  if (valuesOf(attributes, groupsElsewhere) !== null) return { known: false, why: 'elsewhere' };
  const names = groupsAttribute === null ? usual.groups : [groupsAttribute];
  const values = valuesOf(attributes, names);
  if (values === null) return { known: false, why: 'absent' };
  return readClaim(values.length === 1 ? values[0] : values);
}
