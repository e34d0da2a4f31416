import type { Element } from '@xmldom/xmldom';
import type { SamlReason } from '../../reasons.ts';
import { attributeOf, childrenNamed, childrenOf, isNamed, textOf } from './document.ts';
import { checkPeriod, instantOf, skew } from './instants.ts';
import { bearer, ns } from './names.ts';
import { samlRefused } from './refusal.ts';
import { checkIssuer } from './response.ts';
import type { Expected, SamlAttribute, SamlConnection, SamlProof } from './saml.ts';
import { nameIdOf, subjectOf } from './subject.ts';

/** The databases and ISO 8601 write later instants with more digits. */
const lastInstant = Date.UTC(9999, 11, 31);

interface Read {
  connection: SamlConnection;
  expected: Expected;
  /** Whether the response's own InResponseTo is signed. */
  isResponseSigned: boolean;
}

/** Checks and reads an assertion from a verified text (security S11). */
export function readAssertion(assertion: Element, read: Read): SamlProof {
  const { connection, expected } = read;
  const id = attributeOf(assertion, 'ID');
  if (!isNamed(assertion, ns.assertion, 'Assertion')) throw refused('assertion_missing');
  // Stored until the assertion ends.
  if (!id || id.length > 255) throw refused('id_malformed');
  if (attributeOf(assertion, 'Version') !== '2.0') throw refused('version_unsupported');
  checkIssuer(assertion, connection, 'assertion');
  if (childrenNamed(assertion, ns.assertion, 'AuthnStatement').length === 0)
    throw refused('statement_missing');
  const conditionsEnd = checkConditions(assertion, connection, expected.now);
  const subject = only(assertion, 'Subject', 'subject_missing');
  const confirmationEnd = checkConfirmations(subject, read);
  const ends = Math.min(confirmationEnd.getTime(), conditionsEnd?.getTime() ?? Infinity);
  const nameId = nameIdOf(subject);
  const attributes = attributesOf(assertion);
  return {
    issuer: connection.provider.entityId,
    subject: subjectOf(nameId, attributes, connection.subjectAttribute),
    nameId,
    attributes,
    assertionId: id,
    assertionEndsAt: new Date(Math.min(ends + skew, lastInstant)),
  };
}

function refused(reason: SamlReason) {
  return samlRefused('assertion', reason);
}

function only(parent: Element, name: string, reason: SamlReason): Element {
  const [child, ...more] = childrenNamed(parent, ns.assertion, name);
  if (child === undefined || more.length > 0) throw refused(reason);
  return child;
}

/** Checks the conditions; returns their end. A condition that is not known here refuses. */
function checkConditions(assertion: Element, { entityId }: SamlConnection, now: Date): Date | null {
  const conditions = only(assertion, 'Conditions', 'audience_mismatch');
  const until = instantOf(attributeOf(conditions, 'NotOnOrAfter'));
  checkPeriod({ from: instantOf(attributeOf(conditions, 'NotBefore')), until }, now);
  // Every assertion is used once, and none is passed on: the last two hold in any case.
  const known = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'];
  const isKnown = (child: Element) => known.some((name) => isNamed(child, ns.assertion, name));
  if (!childrenOf(conditions).every(isKnown)) throw refused('condition_unknown');
  const restrictions = childrenNamed(conditions, ns.assertion, 'AudienceRestriction');
  const isForUs = (restriction: Element) =>
    childrenNamed(restriction, ns.assertion, 'Audience').some(
      (audience) => textOf(audience)?.trim() === entityId,
    );
  if (restrictions.length === 0 || !restrictions.every(isForUs)) throw refused('audience_mismatch');
  return until;
}

/** Refuses unless one bearer confirmation holds; returns its end. */
function checkConfirmations(subject: Element, read: Read): Date {
  let fault: unknown = refused('confirmation_missing');
  for (const confirmation of childrenNamed(subject, ns.assertion, 'SubjectConfirmation')) {
    if (attributeOf(confirmation, 'Method') !== bearer) continue;
    try {
      return checkBearer(confirmation, read);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

function checkBearer(
  confirmation: Element,
  { connection, expected, isResponseSigned }: Read,
): Date {
  const data = only(confirmation, 'SubjectConfirmationData', 'confirmation_missing');
  if (attributeOf(data, 'Recipient') !== connection.acsUrl) throw refused('recipient_mismatch');
  const request = attributeOf(data, 'InResponseTo');
  if (request === null ? !isResponseSigned : request !== expected.requestId)
    throw refused('in_response_to_mismatch');
  const until = instantOf(attributeOf(data, 'NotOnOrAfter'));
  if (until === null) throw refused('confirmation_missing');
  checkPeriod({ from: instantOf(attributeOf(data, 'NotBefore')), until }, expected.now);
  return until;
}

/** The attributes with their text values. A value that contains elements is left out. */
function attributesOf(assertion: Element): SamlAttribute[] {
  const statements = childrenNamed(assertion, ns.assertion, 'AttributeStatement');
  const attributes = statements.flatMap((one) => childrenNamed(one, ns.assertion, 'Attribute'));
  return attributes.map((attribute) => {
    const name = attributeOf(attribute, 'Name');
    if (!name) throw refused('attributes_malformed');
    const values = childrenNamed(attribute, ns.assertion, 'AttributeValue').map(textOf);
    return {
      name,
      friendlyName: attributeOf(attribute, 'FriendlyName'),
      values: values.filter((value) => value !== null),
    };
  });
}
