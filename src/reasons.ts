import type { AddressKind } from './text/address.ts';

// The closed lists of reasons. A log line or an event shows a reason. Code compares reasons, so it
// reads them from fields of a refusal, never from `cause` or `extra`.

/** Why a directory refuses a valid request, with Active Directory's subcodes. */
export type DirectoryReason =
  | 'credentials_refused'
  | 'user_unknown'
  | 'wrong_password'
  | 'logon_hours'
  | 'workstation'
  | 'password_expired'
  | 'account_disabled'
  | 'account_expired'
  | 'must_change_password'
  | 'account_locked'
  | 'stronger_auth_required'
  | 'encryption_required'
  | 'dn_malformed'
  | 'anonymous_refused'
  | 'not_permitted'
  | 'base_missing'
  | 'bind_required'
  | 'referred'
  | 'limit_exceeded'
  | 'refused';

/** Why a person, a passkey or a client is refused. The log and the event get it, no client does. */
export type Reason =
  // The account, and the way in.
  | 'unknown_account'
  | 'wrong_password'
  | 'wrong_code'
  | 'account_disabled'
  | 'email_unverified'
  | 'changed_meanwhile'
  | 'deactivated'
  | 'method_off'
  | 'second_factor_required'
  | 'sign_in_first'
  // The redirect to a provider, and the person that the provider names.
  | 'state_invalid'
  | 'state_replayed'
  | 'other_browser'
  | 'other_person'
  | 'code_of_another_provider'
  | 'refused_by_provider'
  | 'provider_refused'
  | 'connection_changed'
  | 'domain_not_verified'
  | 'subject_missing'
  | 'answer_replayed'
  | 'email_missing'
  | 'email_several'
  | 'email_malformed'
  | 'email_not_verified'
  | 'email_domain_differs'
  | 'email_domain_not_verified'
  | 'identity_conflict'
  | 'owner_not_approved'
  // A directory. `service_` means that its service account failed.
  | DirectoryReason
  | `service_${'bind' | 'search'}_${DirectoryReason}`
  | 'service_too_many_tries'
  | 'no_directory'
  | 'too_many_tries'
  | 'user_not_found'
  | 'user_ambiguous'
  | 'dn_outside_base'
  | 'entry_malformed'
  // A passkey.
  | 'wrong_challenge'
  | 'challenge_expired'
  | 'challenge_of_another_use'
  | 'challenge_replayed'
  | 'unknown_credential'
  | 'wrong_signature'
  | 'counter_went_back'
  | 'other_account'
  | 'wrong_account'
  | 'second_factor_only'
  | 'suspended'
  | 'wrong_origin'
  | 'wrong_host'
  | 'user_not_present'
  | 'user_not_verified'
  | 'attested'
  | 'malformed'
  // An app, or a client of the provider.
  | 'no_such_app'
  | 'wrong_secret'
  | 'not_a_member'
  | 'project_role_missing';

/** The detail errors of RFC 7644 §3.12 that idctl uses. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'sensitive'
  | 'tooMany'
  | 'uniqueness';

/** Why a request to another server failed. */
export type NetworkReason =
  | 'timeout'
  | 'too_large'
  | 'redirected'
  | 'name_not_found'
  | 'connection_refused'
  | 'tls_untrusted'
  | 'tls_name_mismatch'
  | 'tls_expired'
  | 'tls_missing'
  | 'unreachable';

/** Why idctl does not connect to an address. */
type AddressReason = AddressKind | 'plain_http' | 'plaintext' | 'scheme';

/** The stage at which the connection to a directory failed. */
export type DirectoryStage = 'name' | 'connection' | 'TLS' | 'answer';

/** Why the connection to a directory failed. */
export type DirectoryFailure = NetworkReason | 'closed' | 'malformed' | 'starttls_refused' | 'busy';

/** The response of an identity provider that failed. The last three are of SAML. */
export type Stage =
  | 'discovery'
  | 'authorization'
  | 'token'
  | 'id_token'
  | 'userinfo'
  | 'metadata'
  | 'response'
  | 'assertion';

/** The error codes of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, OpenID Connect Core §3.1.2.6. */
export const providerErrors = [
  'access_denied',
  'invalid_request',
  'unauthorized_client',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
  'invalid_client',
  'invalid_grant',
  'unsupported_grant_type',
  'invalid_token',
] as const;

/** The fields of a provider's responses that are checked one by one. */
export const checkedFields = [
  'alg',
  'aud',
  'azp',
  'iss',
  'nonce',
  'sub',
  'exp',
  'iat',
  'nbf',
  'state',
  'id_token',
  'access_token',
  'token_type',
  'crit',
] as const;

/** Why a provider's response could not be used, or was not accepted. */
export type ProviderReason =
  | (typeof providerErrors)[number]
  | `${(typeof checkedFields)[number]}_invalid`
  | 'error_response'
  | 'signature_invalid'
  | 'invalid_response'
  | 'unexpected_status'
  | 'not_json'
  | 'malformed'
  | 'endpoint_missing'
  | 'endpoint_insecure'
  | 'issuer_mismatch'
  | 'id_token_missing';

/** Why a SAML provider's metadata could not be used. */
export type MetadataReason =
  | MarkupReason
  | 'not_a_provider'
  | 'not_metadata'
  | 'entity_missing'
  | 'entities_several'
  | 'endpoint_missing'
  | 'endpoint_insecure'
  | 'certificate_missing'
  | 'certificate_unusable'
  | 'certificate_weak';

/** Why a text was not read as XML. */
export type MarkupReason =
  | 'too_large'
  | 'malformed'
  | 'doctype_present'
  | 'markup_forbidden'
  | 'too_deep'
  | 'too_many_elements';

/** The second-level status codes of SAML (saml-core §3.2.2.2) that say why a sign-in failed. */
export const samlStatuses = [
  ['AuthnFailed', 'status_authn_failed'],
  ['InvalidNameIDPolicy', 'status_invalid_name_id_policy'],
  ['NoAuthnContext', 'status_no_authn_context'],
  ['NoPassive', 'status_no_passive'],
  ['RequestDenied', 'status_request_denied'],
  ['RequestUnsupported', 'status_request_unsupported'],
  ['UnknownPrincipal', 'status_unknown_principal'],
  ['UnsupportedBinding', 'status_unsupported_binding'],
] as const;

/** Why a SAML response was not accepted (security S11). */
export type SamlReason =
  | MarkupReason
  | 'not_a_response'
  | 'version_unsupported'
  // The status of the response.
  | 'status_missing'
  | 'status_requester'
  | 'status_responder'
  | 'status_version_mismatch'
  | 'status_other'
  | (typeof samlStatuses)[number][1]
  // The signature.
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_algorithm_refused'
  | 'signature_transform_refused'
  | 'signature_reference_refused'
  | 'signature_invalid'
  | 'id_repeated'
  | 'id_malformed'
  // The response around the assertion.
  | 'assertion_missing'
  | 'assertions_several'
  | 'issuer_mismatch'
  | 'destination_mismatch'
  | 'in_response_to_mismatch'
  // An encrypted assertion.
  | 'encryption_not_expected'
  | 'encryption_algorithm_refused'
  | 'assertion_unusable'
  // The assertion.
  | 'not_yet_valid'
  | 'expired'
  | 'time_malformed'
  | 'audience_mismatch'
  | 'condition_unknown'
  | 'confirmation_missing'
  | 'recipient_mismatch'
  | 'statement_missing'
  | 'attributes_malformed'
  | 'name_id_malformed'
  | 'name_id_format_refused'
  | 'name_id_transient'
  | 'subject_missing'
  | 'subject_malformed';

/** Why the mail server could not be used, in the words of the event and of the operator. */
export type MailReason =
  | 'its name cannot be resolved'
  | 'it refused the connection'
  | 'it did not answer in time'
  | 'its certificate is for another name'
  | 'its certificate is not valid now'
  | 'its certificate is not trusted'
  | 'the encrypted connection could not be made'
  | 'it did not accept the user name and password'
  | 'it requires a user name and password'
  | 'it did not accept the sender or the recipient'
  | 'it did not accept the message'
  | 'the connection broke';

/** How the mail server failed. */
interface MailFailure {
  reason: MailReason;
  /** Whether a retry is useless. */
  final: boolean;
  /** The server's own words; null if it did not answer. */
  answer: string | null;
}

/** Why another server could not be used, or did not accept a request. */
export type FailureReason =
  | ProviderReason
  | MetadataReason
  | SamlReason
  | NetworkReason
  | AddressReason
  | DirectoryFailure
  | MailReason;

/** How another server failed: a provider at a stage, a directory at a place, or any server. */
export type Failure =
  | { stage: Stage; reason: FailureReason }
  | { at: DirectoryStage; reason: DirectoryFailure }
  | MailFailure
  | { reason: FailureReason };
