import '../../http/scim-fuzz.test.ts';
