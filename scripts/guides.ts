import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { guidedProviders } from '../src/services/tenancy/sso/providers.ts';
import { guidedSamlProviders } from '../src/services/tenancy/sso/saml-providers.ts';
import { guideOf, samlGuideOf } from './guides/page.ts';

// Writes docs/providers/. Run it after a change of a provider's steps. A test checks that the pages
// match.
const folder = join(dirname(import.meta.dirname), 'docs/providers');
mkdirSync(folder, { recursive: true });
for (const name of guidedProviders) writeFileSync(join(folder, `${name}.md`), guideOf(name));
for (const name of guidedSamlProviders)
  writeFileSync(join(folder, `saml-${name}.md`), samlGuideOf(name));
