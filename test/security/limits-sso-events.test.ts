import { expect, onTestFinished, test } from 'vitest';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { openInstance } from '../support/instance.ts';
import { startLyingProvider } from '../support/lying-provider.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { failed, returning } from './returning.ts';

test('X5 refused sign-ins of a connection share one event for each reason and quarter of an hour', async () => {
  const idctl = await openInstance({ outbound: { allow: ['127.0.0.1'] } });
  const provider = await startLyingProvider(registration.clientId, '');
  onTestFinished(() => provider.stop());
  const { org, domain } = await connected(idctl, provider.issuer);
  const refuse = async (claims: Record<string, unknown>, times: number) => {
    for (let done = 0; done < times; done += 1) {
      const { browser, callback } = await returning(idctl, provider, { domain, claims });
      expect(await comeBack(browser, callback)).toMatchObject(failed);
    }
  };
  const seen = async () => {
    const input = { org: org.slug, kind: 'sso.signin.refused', limit: 50 };
    return (await listEvents(idctl.operator(), input)).items.map(({ data }) => [
      data['reason'],
      data['count'],
    ]);
  };
  await refuse({ email: 'ada@elsewhere.test' }, 3);
  await refuse({ email_verified: false }, 2);
  expect(await seen()).toEqual([
    ['email_domain_differs', 3],
    ['email_not_verified', 2],
  ]);
  idctl.wait(901);
  await refuse({ email: 'ada@elsewhere.test' }, 1);
  expect(await seen()).toHaveLength(3);
});
