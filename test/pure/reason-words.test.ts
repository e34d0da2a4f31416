import { expect, test } from 'vitest';
import { reasonSentence, reasonSentences } from '../../src/services/signin/reason-words.ts';

test('every reason is a short sentence', () => {
  for (const sentence of Object.values(reasonSentences)) {
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence.split(' ').length, sentence).toBeLessThanOrEqual(20);
  }
});

test.each([
  ['ldap.signin.refused', 'password_expired', 'The password has expired.'],
  ['ldap.signin.refused', 'email_missing', 'The entry has no usable e-mail address.'],
  ['sso.signin.refused', 'email_missing', 'The identity provider did not send an e-mail address.'],
  ['ldap.signin.refused', 'user_not_found', 'No entry matches the filter with this user name.'],
  ['ldap.owner.refused', 'connection_changed', reasonSentences.connection_changed],
  [
    'ldap.signin.refused',
    'service_bind_password_expired',
    'The directory refused the service account of the connection: the password has expired.',
  ],
  [
    'ldap.signin.refused',
    'service_too_many_tries',
    'The directory refused the bind password of the connection too often.',
  ],
  ['signin.refused', 'second_factor_invalid', 'Second factor not accepted.'],
  ['signin.refused', 'toString', 'The sign-in was refused (toString).'],
])('the reason of %s with %s is a sentence', (kind, code, sentence) => {
  expect(reasonSentence(code, { kind })).toBe(sentence);
});

test('a reason of a provider names the stage', () => {
  expect(reasonSentence('aud_invalid', { stage: 'id_token' })).toBe(
    'The sign-in failed at the stage id_token (aud_invalid).',
  );
});
