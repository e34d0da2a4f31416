import freeMailDomains from 'free-email-domains';
import { getPublicSuffix } from 'tldts';

const consumerMail = new Set(freeMailDomains);

/**
 * Why no organization can own a domain (security D2): a public suffix, of ICANN or private, or a
 * consumer mail provider. Null if one can.
 */
export function whyShared(domain: string): string | null {
  if (getPublicSuffix(domain, { allowPrivateDomains: true }) === domain) {
    return 'is a public suffix, under which anyone can register';
  }
  return consumerMail.has(domain) ? 'is a mail provider that anyone can have an address at' : null;
}
