import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../support/fake-server.ts';
import { install } from '../support/installation.ts';
import { providerMetadata } from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';

test('on the host, `sso set` reads the metadata at a URL, outside of any transaction', async () => {
  const { key } = await samlProvider();
  const { url } = await serve((_, response) => response.end(providerMetadata(key.certificate)));
  const site = await install({ env: { IDCTL_OUTBOUND_ALLOW: '127.0.0.1' } });
  onTestFinished(() => site.close());
  const set = ['sso', 'set', '--org', 'acme', '--domain', 'acme.test', '--saml-metadata', url];
  const made = await site.run([...set, '--json']);
  expect(made.code).toBe(0);
  expect(JSON.parse(made.out)).toMatchObject({ kind: 'saml', metadataUrl: url });
});
