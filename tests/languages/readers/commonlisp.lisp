(loop for name in '("a" "b" "c" "d") for wanted from 1
      do (with-open-file (file (concatenate 'string "given/" name))
           (let ((number (read file)))
             (unless (= number wanted) (sb-ext:exit :code 3))
             (format t "~D~%" number))))
