import { refusals } from '../../errors.ts';
import type { DirectoryReason, Reason } from '../../reasons.ts';
import { reasonWords, refusalWords, searchWords } from './methods/ldap/words.ts';

// The sentences for the reasons that a log line, an event or an attempt has as a code.

type ServiceReason = Extract<Reason, `service_${string}`>;
type Common = 'account_disabled' | 'wrong_password';

/** A sentence for each reason, except those of a directory. */
export const reasonSentences: Record<
  Common | Exclude<Reason, DirectoryReason | ServiceReason | keyof typeof searchWords>,
  string
> = {
  unknown_account: 'There is no account with this address.',
  wrong_password: 'The password is wrong.',
  wrong_code: 'The code is wrong or has expired.',
  account_disabled: 'The account is disabled.',
  email_unverified: 'The address of the account is not verified.',
  changed_meanwhile: 'The account or its credential was changed during the sign-in.',
  deactivated: 'The organization has removed or deactivated this person.',
  method_off: 'The sign-in settings for this address do not allow this way to sign in.',
  second_factor_required: 'The sign-in needs the second factor, which was not sent.',
  sign_in_first:
    'The account is not connected to the provider yet. The person must sign in another way first.',

  state_invalid:
    'The person came back from the provider too late, or idctl did not send them there.',
  state_replayed: 'This sign-in had already been completed: its page was opened again.',
  other_browser: 'The sign-in began in another browser.',
  other_person: 'Another person was signed in when the account was connected.',
  code_of_another_provider: 'The authorization code was sent to another provider before.',
  refused_by_provider: 'The identity provider sent the person back without signing them in.',
  provider_refused: 'The answer of the identity provider was not accepted.',
  connection_changed: 'The connection was changed or switched off during the sign-in.',
  domain_not_verified: 'The organization has not verified the domain of the connection.',
  subject_missing: 'The identity provider did not name the person.',
  answer_replayed: 'The answer of the identity provider had already been used.',
  email_missing: 'The identity provider did not send an e-mail address.',
  email_several: 'The identity provider sent several addresses on the domain of the connection.',
  email_malformed: 'The identity provider sent an invalid e-mail address.',
  email_not_verified: 'The identity provider has not verified the e-mail address.',
  email_domain_differs: 'The e-mail address is not on the domain of the connection.',
  email_domain_not_verified: 'The organization has not verified the domain of the e-mail address.',
  identity_conflict: 'The account is linked to another identity.',
  owner_not_approved: 'No owner has approved where the connection points.',
  no_directory: 'No directory is set up for this user name.',
  too_many_tries: 'Too many attempts failed.',

  wrong_challenge: 'The passkey answered a request that idctl did not make.',
  challenge_expired: 'The passkey answered too late.',
  challenge_of_another_use: 'The passkey answered a request for another purpose.',
  challenge_replayed: 'This answer of the passkey had already been used.',
  unknown_credential: 'No account has this passkey.',
  wrong_signature: 'The signature of the passkey is wrong.',
  counter_went_back: 'The counter of the passkey went back: the passkey may have been copied.',
  other_account: 'The passkey belongs to another account.',
  wrong_account: 'The passkey did not name its account.',
  second_factor_only: 'The passkey is only a second factor, and cannot sign in alone.',
  suspended: 'The passkey or secret is suspended, because a backup was restored.',
  wrong_origin: 'The passkey was used at another address than baseUrl.',
  wrong_host: 'The passkey was used at another host than that of baseUrl.',
  user_not_present: 'The authenticator did not see the person.',
  user_not_verified: 'The authenticator did not verify the person, for example by a fingerprint.',
  attested: 'The passkey came with certificates of its maker, which idctl does not accept.',
  malformed: 'The answer of the passkey is malformed.',

  no_such_app: 'There is no app with this client id.',
  wrong_secret: 'The client secret is wrong.',
  not_a_member: 'The person is not a member of the organization.',
  project_role_missing: 'The person lacks the role in the project that the application requires.',
};

/** The sentence for the reason of an event of this kind, or of an attempt at a stage. */
export function reasonSentence(
  code: string,
  { kind, stage }: { kind?: string; stage?: string },
): string {
  const own = kind?.startsWith('ldap.') ? directorySentence(code) : undefined;
  const known = own ?? find(reasonSentences, code);
  if (known !== undefined) return known;
  const title = find(refusals, code)?.title;
  if (title !== undefined) return `${title}.`;
  return stage === undefined
    ? `The sign-in was refused (${code}).`
    : `The sign-in failed at the stage ${stage} (${code}).`;
}

/** The sentence for a refusal by a directory; undefined for any other reason. */
function directorySentence(code: string): string | undefined {
  const [, service] = /^service_(?:bind|search)_(\w+)$/.exec(code) ?? [];
  if (service !== undefined) {
    const seen = find(reasonWords, service)?.seen ?? service;
    return `The directory refused the service account of the connection: ${seen}.`;
  }
  if (code === 'service_too_many_tries')
    return 'The directory refused the bind password of the connection too often.';
  const words = { ...refusalWords, ...searchWords, ...reasonWords };
  const seen = find(words, code)?.seen;
  return seen === undefined ? undefined : `${seen.charAt(0).toUpperCase()}${seen.slice(1)}.`;
}

/** The entry of a table under a name from outside. */
function find<Value>(table: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
