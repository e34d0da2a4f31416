import { accountPages } from './account/forms.ts';
import { linkPages } from './link.ts';
import { directoryPages } from './login/directory.ts';
import { acceptPage } from './login/invitation.ts';
import { mailCodePages } from './login/mail-code.ts';
import { passwordPage } from './login/password.ts';
import { resetPages } from './login/reset.ts';
import { secondFactorPages } from './login/second-factor.ts';
import { signInPage } from './login/sign-in.ts';
import { signUpPages } from './login/sign-up.ts';
import { verifyPages } from './login/verify.ts';
import type { Page } from './page.ts';

/** Every page and every form. */
export const pages: Page[] = [
  signInPage,
  passwordPage,
  ...linkPages,
  ...directoryPages,
  ...secondFactorPages,
  ...mailCodePages,
  ...signUpPages,
  ...verifyPages,
  ...resetPages,
  acceptPage,
  ...accountPages,
];
