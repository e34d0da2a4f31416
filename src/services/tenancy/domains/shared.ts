import freeMailDomains from 'free-email-domains';
import { getPublicSuffix } from 'tldts';

const consumerMail = new Set(freeMailDomains);

/**
 * Why a domain is everybody's and can be nobody's own (security D2), or null: a public suffix, of ICANN
 * or private, or a consumer mail provider.
 */
export function whyShared(domain: string): string | null {
  if (getPublicSuffix(domain, { allowPrivateDomains: true }) === domain) {
    return 'is a public suffix, under which anyone can register';
  }
  return consumerMail.has(domain) ? 'is a mail provider that anyone can have an address at' : null;
}
