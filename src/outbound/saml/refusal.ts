import type { Refusal } from '../../errors.ts';
import type { SamlReason } from '../../reasons.ts';
import { providerRefused } from '../provider-refusal.ts';

/** The refusal of a SAML response, with what to change at the provider. */
export function samlRefused(
  stage: 'response' | 'assertion',
  reason: SamlReason,
  cause?: unknown,
): Refusal {
  return providerRefused(stage, reason, cause, hints[reason]);
}

const tryAgain =
  'Sign in again from the start. If this recurs, compare the addresses of idctl at the provider.';
const signInAtProvider =
  'Find this sign-in in the log of the provider. It says why it was refused.';
const plainXml = 'Report this response to the vendor of the provider.';
const clock = 'Compare the clock of the provider with the clock of this server.';
const weak =
  'Set the signature algorithm of this application at the provider to RSA-SHA256, for signature and digest.';

const hints: Record<SamlReason, string> = {
  too_large: 'Send fewer groups: choose the groups of this application at the provider.',
  malformed: plainXml,
  doctype_present: plainXml,
  markup_forbidden: plainXml,
  too_deep: plainXml,
  too_many_elements: 'Send fewer groups: choose the groups of this application at the provider.',
  not_a_response: 'Check that the provider speaks SAML 2.0 to this address.',
  version_unsupported: 'Choose SAML 2.0 for this application at the provider.',
  status_missing: plainXml,
  status_requester: `The provider refused the request. Compare the entity ID and the reply URL at the provider. ${signInAtProvider}`,
  status_responder: signInAtProvider,
  status_version_mismatch: 'Choose SAML 2.0 for this application at the provider.',
  status_other: signInAtProvider,
  status_authn_failed: 'The person could not sign in at the provider. Its log says why.',
  status_invalid_name_id_policy:
    'Choose another NameID format for this application at the provider, such as persistent or emailAddress.',
  status_no_authn_context: signInAtProvider,
  status_no_passive: signInAtProvider,
  status_request_denied:
    'The provider denied the request. Assign the person to this application at the provider.',
  status_request_unsupported: signInAtProvider,
  status_unknown_principal:
    'The provider does not know the person. Assign them to this application.',
  status_unsupported_binding:
    'Set the reply URL at the provider to the HTTP-POST address in the metadata of idctl.',
  signature_missing: 'Sign the assertion, or the response, for this application at the provider.',
  signature_malformed: plainXml,
  signature_algorithm_refused: weak,
  signature_transform_refused: plainXml,
  signature_reference_refused: plainXml,
  signature_invalid:
    "The provider signs with a certificate that is not in this connection. Read the provider's current metadata.",
  id_repeated: plainXml,
  id_malformed: plainXml,
  assertion_missing: 'The response has no assertion. Find this sign-in in the log of the provider.',
  assertions_several:
    'The provider must send one assertion. Check the settings of this application.',
  issuer_mismatch:
    'The response is from another provider or tenant. Compare its entity ID with the metadata of this connection.',
  destination_mismatch:
    'Set the reply URL (ACS URL) at the provider to the one of this connection.',
  in_response_to_mismatch: `Start at idctl, not at the provider. ${tryAgain}`,
  encryption_not_expected:
    'Switch encryption off for this application at the provider, or switch encryptAssertions on.',
  encryption_algorithm_refused:
    'Encrypt with AES-GCM and RSA-OAEP at the provider. For AES-CBC, the provider must sign the whole response.',
  assertion_unusable:
    "The assertion cannot be decrypted, or is refused after that. Give the provider idctl's current metadata, and test without encryption.",
  not_yet_valid: clock,
  expired: clock,
  time_malformed: plainXml,
  audience_mismatch: 'Set the audience (entity ID) at the provider to the entity ID of idctl.',
  condition_unknown: 'Remove special conditions from the assertions of this application.',
  confirmation_missing:
    'The assertion must have a bearer confirmation with a recipient and an end. Use the Web SSO profile.',
  recipient_mismatch:
    'Set the recipient (reply URL, ACS URL) at the provider to the one of this connection.',
  statement_missing: 'The provider must send an authentication statement. Use the Web SSO profile.',
  attributes_malformed: plainXml,
  name_id_malformed: plainXml,
  name_id_format_refused:
    'Choose the NameID format persistent, emailAddress or unspecified at the provider.',
  name_id_transient:
    'A transient NameID changes at every sign-in. Choose persistent, or set subjectAttribute to a lasting attribute.',
  subject_missing:
    'The assertion does not identify the person. Send a NameID, or the attribute named by subjectAttribute.',
  subject_malformed: 'The identifier of the person must have 1 to 255 visible characters.',
};
