import type { BoundedFetch } from '../http.ts';
import { providerFailed, providerRefusal } from '../provider-refusal.ts';
import { readMetadata, writeMetadata } from './metadata.ts';
import { sendRequest } from './request.ts';
import type { Saml } from './saml.ts';
import { verifyInThread } from './thread.ts';
import { requestIn } from './verify.ts';

/** The network that SAML needs. */
interface Network {
  fetch: BoundedFetch;
  /** Refuses a URL that the operator does not allow. */
  judgeUrl(url: string): Promise<void>;
}

/** SAML 2.0 (security S11). Loading this file loads the XML library, so only `create.ts` does. */
export function openSaml(network: () => Promise<Network>): Saml {
  const read = async (xml: string) => {
    const metadata = readMetadata(xml);
    if (metadata.ssoUrl.startsWith('http:')) await (await network()).judgeUrl(metadata.ssoUrl);
    return metadata;
  };
  return {
    readMetadata: read,
    async fetchMetadata(url) {
      if (!url.startsWith('https:')) await (await network()).judgeUrl(url);
      const response = await (await network()).fetch(url).catch(unfetched);
      if (response.status !== 200)
        throw providerFailed(
          'metadata',
          'unexpected_status',
          `its address answered with the HTTP status ${response.status}`,
          {
            hint: 'Open the metadata URL in a browser, and compare it with the one at the provider.',
          },
        );
      const xml = await response.text();
      return { xml, metadata: await read(xml) };
    },
    ourMetadata: async (we) => writeMetadata(we),
    request: sendRequest,
    async inResponseTo(field) {
      return requestIn(field);
    },
    verify: verifyInThread,
  };
}

function unfetched(error: unknown): never {
  throw providerRefusal(error, 'metadata');
}
