import { expect, test } from 'vitest';
import { verifyInThread } from '../../src/outbound/saml/thread.ts';
import { samlNow, samlProvider } from '../support/saml-provider.ts';

const provider = await samlProvider();
const { connection, requestId } = provider;

test.each(['assertion', 'response', 'both'] as const)(
  'S11 a response whose %s is signed gives the subject, the NameID and the attributes',
  async (signs) => {
    const expected = { requestId, now: samlNow };
    const proof = await verifyInThread(connection, provider.respond({ signs }), expected);
    expect(proof).toEqual({
      issuer: 'https://idp.example.test/saml',
      subject: 'ada-1',
      nameId: { value: 'ada-1', format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' },
      attributes: [
        {
          name: 'urn:oid:0.9.2342.19200300.100.1.3',
          friendlyName: 'mail',
          values: ['ada@acme.test'],
        },
        { name: 'groups', friendlyName: null, values: ['staff', 'admins'] },
      ],
      assertionId: '_assertion1',
      assertionEndsAt: new Date('2026-11-20T10:06:00Z'),
    });
  },
);
