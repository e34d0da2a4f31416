import type { Mutation } from './table.ts';

type Case = [rule: string, without: string, file: string, from: string, to: string, named: string];

/** The mutations whose tests are in one file. */
function of(test: string, cases: Case[]): Mutation[] {
  return cases.map(([rule, without, file, from, to, named]) => ({
    ...{ rule, without, from, to, named },
    file: `src/${file}.ts`,
    test: `test/services/${test}.test.ts`,
  }));
}

const start = 'services/signin/redirect/saml-request';
const signIn = 'services/signin/methods/saml';
const attributes = 'services/tenancy/sso/attributes';
const points = 'services/tenancy/connections/sso';
const refresh = 'services/tenancy/sso/refresh';

/** One mutation for each clause about a SAML connection and its sign-in. */
export const ofSamlConnection: Mutation[] = [
  ...of('saml', [
    [
      'S11',
      'the connection of a start',
      start,
      '!isOfConnection || ctx.now',
      'ctx.now',
      'of another connection',
    ],
    ['S11', 'the end of a start', start, ' || ctx.now >= expiresAt', '', 'ten minutes'],
    [
      'S11',
      'that a start takes one answer',
      signIn,
      'await spend(start, places);',
      '',
      'takes one answer',
    ],
    [
      'S11',
      'the browser of a start',
      signIn,
      '!start.isSameBrowser(flow)',
      'false',
      'only the browser',
    ],
    [
      'S11',
      'that an assertion proves once',
      signIn,
      "await refusingDuplicate(SpentState.create(spent), { message: 'The assertion was used.' });",
      '',
      'each assertion ID',
    ],
    [
      'S11',
      'that exactly one address is on the domain',
      attributes,
      'own.length > 1',
      'false',
      'exactly one address',
    ],
    [
      'S7',
      'the signature of the RelayState',
      start,
      ' && relayState.startsWith(relayMac(ctx, id, returnTo))',
      '',
      'a RelayState',
    ],
    [
      'I7',
      'that groups elsewhere are unknown',
      attributes,
      'valuesOf(attributes, groupsElsewhere) !== null',
      'false',
      'groups are unknown',
    ],
    [
      'S11',
      'that keys for encryption are in the metadata only where they are needed',
      'services/tenancy/sso/our-party',
      'connection?.encryptAssertions === true ? encryption : []',
      'encryption',
      'a key for encryption',
    ],
    [
      'S11',
      'that requests are signed where the metadata wants it',
      signIn,
      'wantsSignedRequests ? await samlSigner(ctx) : null',
      'null',
      'is signed where',
    ],
    [
      'S11',
      'the exception of the ACS from the Origin check',
      'http/answer',
      'route.crossSiteForm ? null : door.origins',
      'door.origins',
      'the post of another site',
    ],
  ]),
  ...of('saml-connection', [
    ['I8', 'that the entity ID points', points, 'entityId: issuer,', '', 'the entity ID points'],
    [
      'I8',
      'that the certificates of a text point',
      points,
      'certificates: given && fingerprintsOf(given),',
      '',
      'the certificates of a text points',
    ],
    [
      'I8',
      'that another entity ID at the URL is refused',
      refresh,
      'connection.issuer !== metadata.entityId',
      'false',
      'another entity ID',
    ],
    [
      'S11',
      'the event of new certificates',
      refresh,
      'certificates !== null || before.ssoUrl !== metadata.ssoUrl',
      'false',
      'new certificates',
    ],
    [
      'S11',
      'that the metadata is read every day',
      refresh,
      'metadataReadAt: dayAgo,',
      'metadataReadAt: null,',
      'reads it every day',
    ],
  ]),
];
