/** A change of the source that takes a rule away, and the test that must fail then. */
export interface Mutation {
  /** The rule, or the section of the specification, that the change takes away. */
  rule: string;
  /** What is missing afterwards. */
  without: string;
  file: string;
  /** The text that is replaced. It occurs once in the file. */
  from: string;
  to: string;
  /** The test file that must fail. */
  test: string;
  /** Words of the names of the tests that run; all tests of the file by default. */
  named?: string;
}

/** One mutation for each promise that a test once did not hold, and for those found later. */
export const mutations: Mutation[] = [
  {
    rule: 'S2',
    without: 'the expiry of the state after ten minutes',
    file: 'src/services/signin/redirect/state.ts',
    from: 'ctx.now.getTime() >= state.expires * 1000',
    to: 'false',
    test: 'test/security/sso.test.ts',
    named: 'expires after ten minutes',
  },
  {
    rule: 'O10',
    without: 'that only a sign-in since the request answers prompt=login and max_age',
    file: 'src/services/signin/provider/adapters.ts',
    from: 'session !== null && session.startedAt.getTime() >= askedAt',
    to: 'session !== null && askedAt > 0',
    test: 'test/security/provider.test.ts',
    named: 'a session from before the request',
  },
  {
    rule: 'O10',
    without: 'that the person of id_token_hint is the one who signs in',
    file: 'src/services/signin/provider/policy.ts',
    from: 'expected !== undefined && expected !== session.accountId',
    to: 'expected === null',
    test: 'test/security/provider.test.ts',
    named: 'id_token_hint names one person',
  },
  {
    rule: 'O10',
    without: 'email_verified: false for an address that was not proved for good',
    file: 'src/services/signin/provider/claims.ts',
    from: 'email_verified: isProvedForGood({ emailProof })',
    to: 'email_verified: isProvedForGood({ emailProof }) || true',
    test: 'test/security/provider.test.ts',
    named: 'email_verified',
  },
  {
    rule: 'O10',
    without: 'that only the client of a token introspects it',
    file: 'src/services/signin/provider/configuration.ts',
    from: "token.clientId === client.clientId &&\n          'accountId' in token",
    to: "'accountId' in token",
    test: 'test/security/provider.test.ts',
    named: 'wrong client',
  },
  {
    rule: 'P16',
    without: 'the purpose of a passkey challenge',
    file: 'src/services/people/passkeys/challenge.ts',
    from: 'purpose !== bound.purpose || account !== bound.accountId',
    to: 'account !== bound.accountId && purpose.length > 0',
    test: 'test/security/passkeys.test.ts',
    named: 'a challenge to confirm the session',
  },
  {
    rule: 'P16',
    without: 'that the counter of a passkey must grow',
    file: 'src/services/people/passkeys/assertion.ts',
    from: '{ [Op.lt]: counter }',
    to: '{ [Op.lte]: counter }',
    test: 'test/security/passkeys.test.ts',
    named: 'a counter that did not grow',
  },
  {
    rule: 'P16',
    without: 'the limit of 20 passkeys',
    file: 'src/services/signin/passkeys/operations.ts',
    from: 'if (count >= mostPasskeys) throw tooMany();',
    to: 'if (count > mostPasskeys) throw tooMany();',
    test: 'test/security/passkeys.test.ts',
    named: '20 passkeys',
  },
  {
    rule: 'P15',
    without: 'that a plan with the value of a secret needs scope admin',
    file: 'src/services/provisioning/document/compute.ts',
    from: "if (given.sso !== null) await requireAuthority(ctx, 'sso.change', org);",
    to: '',
    test: 'test/security/document.test.ts',
    named: 'cannot plan a document with the value of a secret',
  },
  {
    rule: 'P14',
    without: 'the limit of 100 bot tokens, by one',
    file: 'src/services/people/apps/oauth.ts',
    from: `ORDER BY t.id DESC LIMIT 1 OFFSET \${mostLive - 1}`,
    to: `ORDER BY t.id DESC LIMIT 1 OFFSET \${mostLive}`,
    test: 'test/security/bot-tokens.test.ts',
    named: 'at most 100 active',
  },
  {
    rule: 'X7',
    without: 'that a result counts only while the daemon holds the lease of the webhook',
    file: 'src/services/tenancy/webhooks/delivery/deliver.ts',
    from: 'const ours = { where: { id: webhook.id, leaseId } };',
    to: 'const ours = { where: { id: webhook.id } };',
    test: 'test/services/webhooks.test.ts',
    named: 'another daemon took over',
  },
  {
    rule: 'database move',
    without: 'the comparison of checksums',
    file: 'src/services/instance/move/copy.ts',
    from: 'written.sum() === checksum && written.rows === rows',
    to: 'checksum.length > 0 && written.rows === rows',
    test: 'test/services/database-move-copy.test.ts',
  },
  {
    rule: 'I7',
    without: 'that a role from a SCIM group ends with the group',
    file: 'src/services/provisioning/mappings/facts.ts',
    from: "if (source === 'scim') return 'ends';",
    to: "if (source === 'scim') return sources.some((one) => one.autoRemove) ? 'ends' : 'stays';",
    test: 'test/http/scim-groups.test.ts',
    named: 'gives and removes a role immediately',
  },
  {
    rule: 'P12',
    without: 'that the code that disables the authenticator was not used before',
    file: 'src/services/people/two-factor/operations.ts',
    from: 'if (step !== null) await spendStep(id, step);',
    to: '',
    test: 'test/services/two-factor.test.ts',
    named: 'a code that began a session does not disable',
  },
  {
    rule: 'P15',
    without: 'that a code of a replaced authenticator proves nothing about the current one',
    file: 'src/services/foundation/authority/require.ts',
    from: '(totpEnabledAt === null || passedAt >= totpEnabledAt)',
    to: '(totpEnabledAt === null || passedAt !== undefined)',
    test: 'test/security/token-scopes.test.ts',
    named: 'with an earlier authenticator',
  },
  {
    rule: 'O6',
    without: 'that an expired invitation is refused before anything is typed',
    file: 'src/services/tenancy/invitations/invitation.ts',
    from: 'tokenHash: hashInvitationToken(token), expiresAt: { [Op.gt]: ctx.now }',
    to: 'tokenHash: hashInvitationToken(token)',
    test: 'test/security/invitations.test.ts',
    named: 'an invitation that has expired',
  },
  {
    rule: 'O11',
    without: 'that a ticket is valid only at its host',
    file: 'src/services/tenancy/clients/forward.ts',
    from: 'spent.origin !== origin || ',
    to: '',
    test: 'test/security/forward-auth.test.ts',
    named: 'a ticket and a cookie work only at their host',
  },
  {
    rule: 'O11',
    without: 'that a cookie that is sent twice is not used',
    file: 'src/http/forward-auth.ts',
    from: 'sent.length === 1',
    to: 'sent.length > 0',
    test: 'test/security/forward-auth.test.ts',
    named: 'a cookie that is sent twice',
  },
];
