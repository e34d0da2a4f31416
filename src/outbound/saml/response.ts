import type { Element } from '@xmldom/xmldom';
import { type SamlReason, samlStatuses } from '../../reasons.ts';
import { attributeOf, childrenNamed, textOf } from './document.ts';
import { nameIdFormats, ns, statusPrefix } from './names.ts';
import { samlRefused } from './refusal.ts';
import type { Expected, SamlConnection } from './saml.ts';

/** Checks what a response says about itself (security S11). */
export function checkResponse(
  response: Element,
  { connection, expected, isSigned }: Checked,
): void {
  if (attributeOf(response, 'Version') !== '2.0')
    throw samlRefused('response', 'version_unsupported');
  checkStatus(response);
  const isEncrypted = childrenNamed(response, ns.assertion, 'EncryptedAssertion').length > 0;
  // The Web SSO profile (§4.1.4.2) lets an unsigned response leave its issuer out.
  const hasIssuer = childrenNamed(response, ns.assertion, 'Issuer').length > 0;
  if (hasIssuer || isSigned || isEncrypted) checkIssuer(response, connection, 'response');
  const destination = attributeOf(response, 'Destination');
  if (destination === null ? isSigned : destination !== connection.acsUrl)
    throw samlRefused('response', 'destination_mismatch');
  if (attributeOf(response, 'InResponseTo') !== expected.requestId)
    throw samlRefused('response', 'in_response_to_mismatch');
}

interface Checked {
  connection: SamlConnection;
  expected: Expected;
  isSigned: boolean;
}

/** Refuses unless the element has one issuer, the provider of the connection. */
export function checkIssuer(
  element: Element,
  { provider }: SamlConnection,
  stage: 'response' | 'assertion',
): void {
  const [issuer, ...more] = childrenNamed(element, ns.assertion, 'Issuer');
  const format = issuer && attributeOf(issuer, 'Format');
  const isEntity = (format ?? nameIdFormats.entity) === nameIdFormats.entity;
  const name = issuer && textOf(issuer)?.trim();
  if (name !== provider.entityId || !isEntity || more.length > 0)
    throw samlRefused(stage, 'issuer_mismatch');
}

const topLevel = new Map<string | null, SamlReason>([
  ['Requester', 'status_requester'],
  ['Responder', 'status_responder'],
  ['VersionMismatch', 'status_version_mismatch'],
]);
const secondLevel = new Map<string | null, SamlReason>(samlStatuses);

function checkStatus(response: Element): void {
  const [status, ...more] = childrenNamed(response, ns.protocol, 'Status');
  const [code, ...otherCodes] = status ? childrenNamed(status, ns.protocol, 'StatusCode') : [];
  if (code === undefined || more.length > 0 || otherCodes.length > 0)
    throw samlRefused('response', 'status_missing');
  const value = statusOf(code);
  if (value === 'Success') return;
  const [detail] = childrenNamed(code, ns.protocol, 'StatusCode');
  const reason = secondLevel.get((detail && statusOf(detail)) ?? null) ?? topLevel.get(value);
  throw samlRefused('response', reason ?? 'status_other');
}

/** The last part of a status of SAML 2.0; null for any other. */
function statusOf(code: Element): string | null {
  const value = attributeOf(code, 'Value');
  return value?.startsWith(statusPrefix) ? value.slice(statusPrefix.length) : null;
}
