import '../../pure/scim-fuzz.test.ts';
