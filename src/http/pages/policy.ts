import type { Config } from '../../config/schema.ts';

/**
 * A page may only show its own style and images and send its forms here. Chromium applies
 * `form-action` to the redirect after a form too, so it lists the allowed return origins. With
 * `no-referrer`, Chromium would send forms with `Origin: null`.
 */
export function pagePolicy({ http }: Pick<Config, 'http'>): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    `form-action ${["'self'", ...http.returnToOrigins].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}
