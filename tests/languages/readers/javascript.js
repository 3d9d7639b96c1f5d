const fs = require('fs');
['a', 'b', 'c', 'd'].forEach((name, index) => {
  const number = Number(fs.readFileSync(`given/${name}`, 'utf8'));
  if (number !== index + 1) throw new Error(`${number}`);
  console.log(number);
});
